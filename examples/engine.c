/* A whole engine for the protocol of docs/engine-protocol.md: wins if it can, else blocks, else plays near the centre. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int columns = 7, rows = 6, in_a_row = 4, disc = 'r', board[64][64];  /* rows from the top: 'r', 'y' or 0 */
static int landing(int x) { int y = rows - 1; while (y >= 0 && board[y & 63][x & 63]) y--; return y; }  /* -1: full */
static int has(int x, int y, char side) { return x >= 0 && x < columns && y >= 0 && y < rows && board[y][x] == side; }
static int makes_line(int x, char side) {  /* count its like on both sides of it, in four directions */
    int longest = 0;
    for (int d = 0, count = 1; d < 4; d++, longest = count > longest ? count : longest, count = 1)
        for (int way = -1; way <= 1; way += 2)
            for (int n = way; has(x + n * (d < 3), landing(x) + n * (d == 3 ? 1 : d - 1), side); n += way) count++;
    return longest >= in_a_row;
}
static void set_up(char *line) {
    char *fen = strstr(line, "fen "), *moves = strstr(line, "moves "), *at = fen ? fen + 4 : "";
    memset(board, 0, sizeof board);
    for (int x = 0, y = 0; *at > ' '; at++, columns = x, rows = y + 1)  /* the rows of a fen, from the top */
        if (*at == '/') y++, x = 0;
        else if (*at > '9') board[y & 63][x++ & 63] = *at;
        else x += strtol(at, &at, 10), at--;
    disc = fen && *at ? at[1] : 'r', in_a_row = fen && *at ? atoi(at + 3) : in_a_row;
    for (long x = moves ? strtol(moves + 6, &moves, 10) : 0; x > 0; x = strtol(moves, &moves, 10))
        board[landing(x - 1) & 63][(x - 1) & 63] = disc, disc ^= 'r' ^ 'y';
}
static int choose(void) {  /* a win, else a block, else any open column, each from the centre outwards */
    for (int wish = 0; wish < 3; wish++)
        for (int n = 0, x = (columns - 1) / 2; n < columns; n++, x += n % 2 ? n : -n)
            if (landing(x) >= 0 && (wish == 2 || makes_line(x, wish ? disc ^ 'r' ^ 'y' : disc))) return x;
    return -1;
}
static char line[4096], word[16]; static int is(const char *it) { return !strcmp(word, it); }  /* the line's first word */
int main(void) {
    for (; fgets(line, sizeof line, stdin) && (sscanf(line, "%15s", word), !is("quit")); *word = 0, fflush(stdout))
        if (is("c4i")) puts("id name example in C\nid author Fourlab\nc4iok"); else if (is("isready")) puts("readyok");
        else if (is("ping")) printf("pong %s", strstr(line, "ping") + 5); else if (is("position")) set_up(line);
        else if (is("newgame")) sscanf(strchr(line, 'x') ? line : "newgame 7x6x4", "%*s %dx%dx%d", &columns, &rows, &in_a_row);
        else if (is("go")) printf("bestmove %d\n", choose() + 1);
}
