/* A complete engine for the protocol of docs/reference/engine-protocol.md.
   It wins if it can, else blocks, else plays near the centre. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int columns = 7, rows = 6, in_a_row = 4;
static int board[64][64]; /* rows from the top: 'r', 'y' or 0 */
static int disc = 'r';    /* of the side to move */

static int other(int side) { return side == 'r' ? 'y' : 'r'; }

static int *cell(int x, int y) { return &board[y & 63][x & 63]; } /* never outside the array */

static int landing(int x) { /* the row where a disc lands in column x, -1 if it is full */
    int y = rows - 1;
    while (y >= 0 && *cell(x, y)) y--;
    return y;
}

static int has(int x, int y, int side) {
    return x >= 0 && x < columns && y >= 0 && y < rows && *cell(x, y) == side;
}

static int makes_line(int x, int side) { /* whether a disc dropped into column x completes one */
    static const int right[] = {1, 0, 1, 1}, down[] = {0, 1, 1, -1};
    int y = landing(x);
    for (int d = 0; d < 4; d++) {
        int count = 1;
        for (int way = -1; way <= 1; way += 2)
            for (int n = way; has(x + n * right[d], y + n * down[d], side); n += way) count++;
        if (count >= in_a_row) return 1;
    }
    return 0;
}

static void set_up(char *line) { /* position startpos|fen ROWS SIDE INAROW [moves C C ...] */
    char *fen = strstr(line, "fen "), *moves = strstr(line, "moves ");
    memset(board, 0, sizeof board);
    disc = 'r';
    if (fen) {
        char *at = fen + 4;
        for (columns = 0, rows = 1; *at > ' '; at++) {
            if (*at == '/') rows++, columns = 0;
            else if (*at > '9') *cell(columns++, rows - 1) = *at;
            else columns += strtol(at, &at, 10), at--;
        }
        if (*at) disc = at[1], in_a_row = atoi(at + 3);
    }
    long move = moves ? strtol(moves + 6, &moves, 10) : 0;
    for (; move > 0; move = strtol(moves, &moves, 10)) {
        *cell(move - 1, landing(move - 1)) = disc;
        disc = other(disc);
    }
}

static int choose(void) { /* a win, else a block, else any column, from the centre outwards */
    for (int wish = 0; wish < 3; wish++)
        for (int n = 0, x = (columns - 1) / 2; n < columns; n++, x += n % 2 ? n : -n)
            if (landing(x) >= 0 && (wish == 2 || makes_line(x, wish ? other(disc) : disc)))
                return x;
    return -1;
}

int main(void) {
    char line[4096], word[16];
    for (; fgets(line, sizeof line, stdin); fflush(stdout)) {
        if (sscanf(line, "%15s", word) != 1) continue;
        if (!strcmp(word, "c4i")) puts("id name example in C\nid author Fourlab\nc4iok");
        if (!strcmp(word, "isready")) puts("readyok");
        if (!strcmp(word, "ping")) printf("pong %s", strstr(line, "ping") + 5);
        if (!strcmp(word, "newgame"))
            sscanf(strchr(line, 'x') ? line : "newgame 7x6x4", "%*s %dx%dx%d", &columns, &rows,
                   &in_a_row);
        if (!strcmp(word, "position")) set_up(line);
        if (!strcmp(word, "go")) printf("bestmove %d\n", choose() + 1);
        if (!strcmp(word, "quit")) return 0;
    }
}
