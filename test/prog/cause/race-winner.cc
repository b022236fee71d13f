// expect: entrants k-witness-harmless -
// why: the number of entrants is not used; which name is printed depends on who gets the mutex first, not on this race.
// The winner is decided by a mutex (correct, but depends on the schedule); the counter is racy.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

volatile int entrants;
static std::mutex finish_mutex;
static const char *winner;     // protected by finish_mutex

class Runner {
public:
    Runner(const char *name, int delay) : name_(name), delay_(delay) {}
    void run() const;

private:
    const char *name_;
    int delay_;
};

void Runner::run() const
{
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_));
    entrants = entrants + 1;
    std::lock_guard<std::mutex> hold(finish_mutex);
    if (winner == nullptr)
        winner = name_;
}

int main()
{
    Runner hare("hare", 8);
    Runner tortoise("tortoise", 0);
    std::thread a([&] { hare.run(); });
    std::thread b([&] { tortoise.run(); });
    a.join();
    b.join();
    std::printf("winner: %s\n", winner);
    return 0;
}
