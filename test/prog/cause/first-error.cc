// expect: first_error output-differs output
// why: the thread that stores first (or last, if both saw null) decides which message main prints.
// expect: attempts k-witness-harmless -
// why: both threads count their attempts, but the count is never read.
// The first error of a parallel copy is remembered and reported at the end.
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

const char *volatile first_error;
volatile unsigned attempts;

struct Task {
    const char *failure;
    int delay;
};

static void fail(const char *message)
{
    if (first_error == nullptr)
        first_error = message;
}

static void copy_file(const Task &task)
{
    if (task.delay > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(task.delay));
    attempts = attempts + 1;
    if (task.failure != nullptr)
        fail(task.failure);
}

int main()
{
    std::vector<Task> tasks = {
        { "disk full", 0 },
        { "no such file", 5 },
    };
    std::vector<std::thread> threads;
    for (const Task &t : tasks)
        threads.emplace_back([&t] { copy_file(t); });
    for (auto &t : threads)
        t.join();
    const char *message = first_error;
    std::printf("copy: %s\n", message ? message : "ok");
    return 0;
}
