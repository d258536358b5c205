/*
 * The calls of MPI that tisane makes, with arguments that mean the same in every MPI: requests as 64-bit numbers,
 * counts of bytes, and MPI_COMM_WORLD throughout. A code that is returned is that of the first call that failed.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "a request fits into 64 bits");

enum { TAG = 1 };

static uint64_t from_request(MPI_Request request)
{
    uint64_t number = 0;
    memcpy(&number, &request, sizeof request);
    return number;
}

static MPI_Request to_request(uint64_t number)
{
    MPI_Request request;
    memcpy(&request, &number, sizeof request);
    return request;
}

/* 1 if this process has initialised MPI at some time, also if it is finalised since. */
int tisane_mpi_was_initialised(void)
{
    int initialised = 0;
    MPI_Initialized(&initialised);
    return initialised;
}

/* Sets *serialized to 0 or 1: whether several threads may call, one at a time. */
int tisane_mpi_init(int *serialized)
{
    int provided = 0;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    if (code != MPI_SUCCESS) return code;
    *serialized = provided >= MPI_THREAD_SERIALIZED;
    return MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/* numbers: rank, number of ranks, rank within the host, number of ranks on the host. */
int tisane_mpi_describe(int *numbers)
{
    MPI_Comm host;
    int code = MPI_Comm_rank(MPI_COMM_WORLD, &numbers[0]);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(MPI_COMM_WORLD, &numbers[1]);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Comm_rank(host, &numbers[2]);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(host, &numbers[3]);
    MPI_Comm_free(&host);
    return code;
}

/* Both write a text that ends with a zero and has at most `capacity` bytes with it. */
void tisane_mpi_version(char *text, int capacity)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    int length = 0;
    if (MPI_Get_library_version(version, &length) != MPI_SUCCESS) version[0] = '\0';
    snprintf(text, (size_t)capacity, "%s", version);
}

void tisane_mpi_error_text(int code, char *text, int capacity)
{
    char error[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(code, error, &length) != MPI_SUCCESS) snprintf(error, sizeof error, "MPI error %d", code);
    snprintf(text, (size_t)capacity, "%s", error);
}

int tisane_mpi_broadcast(void *bytes, int count, uint64_t *request)
{
    MPI_Request started = MPI_REQUEST_NULL;
    int code = MPI_Ibcast(bytes, count, MPI_BYTE, 0, MPI_COMM_WORLD, &started);
    *request = from_request(started);
    return code;
}

int tisane_mpi_receive(void *bytes, int count, int source, uint64_t *request)
{
    MPI_Request started = MPI_REQUEST_NULL;
    int code = MPI_Irecv(bytes, count, MPI_BYTE, source, TAG, MPI_COMM_WORLD, &started);
    *request = from_request(started);
    return code;
}

int tisane_mpi_send(const void *bytes, int count, uint64_t *request)
{
    MPI_Request started = MPI_REQUEST_NULL;
    int code = MPI_Isend(bytes, count, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &started);
    *request = from_request(started);
    return code;
}

/* Sets *done to 0 or 1, and once done *received to the bytes received: of use for a receive only. */
int tisane_mpi_test(uint64_t *request, int *done, int *received)
{
    MPI_Request tested = to_request(*request);
    MPI_Status status;
    int code = MPI_Test(&tested, done, &status);
    *request = from_request(tested);
    *received = 0;
    /* The count of a status that no receive has set is undefined: the caller disregards it, and so its code. */
    if (code == MPI_SUCCESS && *done) MPI_Get_count(&status, MPI_BYTE, received);
    return code;
}

int tisane_mpi_finalize(void)
{
    return MPI_Finalize();
}

void tisane_mpi_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}
