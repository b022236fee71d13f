// expect: touched k-witness-harmless -
// why: touched is never read; the use after free happens if the closer gets the mutex first, with both accesses under the mutex and thus without a race.
// An order violation under a mutex (the connection may be closed before it is used) next to a racy
// marker.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

struct Connection {
    int fd;
    int sent;
};

static std::mutex conn_mutex;
Connection *conn;              // set before the threads start, protected by conn_mutex
volatile int touched;

static void nap(int ms)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

static void send_request()
{
    touched = 1;
    std::lock_guard<std::mutex> hold(conn_mutex);
    conn->sent += 100;
}

static void close_connection()
{
    nap(8);
    touched = 2;
    std::lock_guard<std::mutex> hold(conn_mutex);
    delete conn;               // the pointer is left as it is
}

int main()
{
    conn = new Connection;
    conn->fd = 3;
    conn->sent = 0;
    std::thread s(send_request);
    std::thread c(close_connection);
    s.join();
    c.join();
    std::puts("closed");
    return 0;
}
