// After libuv pull request 50: the loop clears "pending" after it has looked at the queue; a send in between is lost.
// Why: the sender finds that pending is still 1 and does not set it again; then the loop clears it and waits
// forever for the second message.
// expect: pending spec-violated -
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

static volatile int pending;
static std::mutex queue_lock;
static int queued;

static void send_one()
{
    {
        std::lock_guard<std::mutex> hold(queue_lock);
        queued++;
    }
    if (!pending)
        pending = 1;
}

static int take_all()
{
    std::lock_guard<std::mutex> hold(queue_lock);
    int n = queued;
    queued = 0;
    return n;
}

static void loop()
{
    int handled = 0;
    while (handled < 2) {
        if (!pending) {
            usleep(200);
            continue;
        }
        handled += take_all();
        pending = 0;
    }
    std::printf("%d handled\n", handled);
}

int main()
{
    std::thread l(loop);
    std::thread s([] {
        send_one();
        usleep(1500);
        send_one();
    });
    s.join();
    l.join();
    return 0;
}
