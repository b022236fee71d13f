// Each thread writes its own file.  The second field is the value of a shared counter that is not
// protected, so two files can have the same number.
// expect: next_number output-differs -
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

static int next_number;
static std::mutex lock;
static int parts;

static void write_part(int part)
{
	{
		std::lock_guard<std::mutex> guard(lock);
		parts++;
	}
	int number = next_number;
	next_number = number + 1;
	std::ofstream out("part" + std::to_string(part) + ".csv");
	out << part << ',' << number << '\n';
}

int main()
{
	std::thread a(write_part, 1), b(write_part, 2);

	a.join();
	b.join();
	return parts == 2 ? 0 : 1;
}
