// Brown clustering as it is usually written, to be measured beside dovetail: dense tables of probabilities and of
// losses, every entry brought up to date after every word and every merge, with its logarithms; one thread.
//
//     brown_dense CLASSES < counts > classes
//
// Reads 64-bit integers: types, tokens, pairs; the count of each word, most frequent first; then first word, second
// word and times of each pair. Writes the class of each word, as a number a line.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

using Row = std::vector<double>;
using Link = std::pair<int, int64_t>;

static int slots;
static std::vector<int> tenant;  // slot -> name of its class, -1 for none
static Row p;
static std::vector<Row> pp, q, loss;
static std::vector<int> parent;

static int64_t read_number() {
  int64_t number;
  if (fread(&number, sizeof number, 1, stdin) != 1) exit(1);
  return number;
}

static int head(int word) {
  while (parent[word] != word) word = parent[word] = parent[parent[word]];
  return word;
}

static inline double term(double joint, double a, double b) { return joint > 0 ? joint * std::log2(joint / (a * b)) : 0; }
static inline double both(int s, int t) { return s == t ? q[s][s] : q[s][t] + q[t][s]; }

// What the pair of merged classes (s, t) would share with u.
static inline double merged(int s, int t, int u) {
  double size = p[s] + p[t];
  return term(pp[s][u] + pp[t][u], size, p[u]) + term(pp[u][s] + pp[u][t], size, p[u]);
}

static inline double merged_self(int s, int t) {
  double size = p[s] + p[t];
  return term(pp[s][s] + pp[s][t] + pp[t][s] + pp[t][t], size, size);
}

static double loss_from_scratch(int s, int t) {
  double total = 0;
  for (int u = 0; u < slots; u++)
    if (tenant[u] >= 0) total += both(s, u) + both(t, u);
  total -= both(s, t);
  for (int u = 0; u < slots; u++)
    if (tenant[u] >= 0 && u != s && u != t) total -= merged(s, t, u);
  return total - merged_self(s, t);
}

static void renew_row(int s) {
  for (int t = 0; t < slots; t++)
    if (tenant[t] >= 0 && t != s) loss[s][t] = loss[t][s] = loss_from_scratch(s, t);
}

static void enter(int slot, int word, const std::vector<int64_t>& count, double tokens, const std::vector<Link>& after,
                  const std::vector<Link>& before, std::vector<int>& slot_of) {
  tenant[slot] = word;
  parent[word] = word;
  slot_of[word] = slot;
  p[slot] = count[word] / tokens;
  for (int t = 0; t < slots; t++) pp[slot][t] = pp[t][slot] = q[slot][t] = q[t][slot] = 0;
  for (auto [other, times] : after)
    if (parent[other] >= 0) pp[slot][slot_of[head(other)]] += times / (tokens - 1);
  for (auto [other, times] : before)
    if (parent[other] >= 0 && other != word) pp[slot_of[head(other)]][slot] += times / (tokens - 1);
  for (int t = 0; t < slots; t++)
    if (tenant[t] >= 0) {
      q[slot][t] = term(pp[slot][t], p[slot], p[t]);
      q[t][slot] = term(pp[t][slot], p[slot], p[t]);
    }
}

static void merge_cheapest(std::vector<int>& slot_of, int& free1, int& free2) {
  int s = -1, t = -1;
  for (int a = 0; a < slots; a++)
    if (tenant[a] >= 0)
      for (int b = 0; b < slots; b++)
        if (tenant[b] > tenant[a] && (s < 0 || loss[a][b] < loss[s][t])) s = a, t = b;
  int u = free1;
  int name = tenant[s];
  parent[tenant[t]] = name;
  slot_of[name] = u;
  p[u] = p[s] + p[t];
  tenant[s] = tenant[t] = -1;
  for (int v = 0; v < slots; v++)
    if (tenant[v] >= 0) {
      pp[u][v] = pp[s][v] + pp[t][v];
      pp[v][u] = pp[v][s] + pp[v][t];
      q[u][v] = term(pp[u][v], p[u], p[v]);
      q[v][u] = term(pp[v][u], p[u], p[v]);
    }
  pp[u][u] = pp[s][s] + pp[s][t] + pp[t][s] + pp[t][t];
  q[u][u] = term(pp[u][u], p[u], p[u]);
  for (int v = 0; v < slots; v++)
    if (tenant[v] >= 0)
      for (int w = v + 1; w < slots; w++)
        if (tenant[w] >= 0) {
          double change = both(v, u) + both(w, u) - merged(v, w, u);
          change -= both(v, s) + both(w, s) - merged(v, w, s) + both(v, t) + both(w, t) - merged(v, w, t);
          loss[v][w] = loss[w][v] = loss[v][w] + change;
        }
  tenant[u] = name;
  renew_row(u);
  free1 = s, free2 = t;
}

int main(int, char** arguments) {
  int classes = atoi(arguments[1]);
  int types = (int)read_number();
  double tokens = (double)read_number();
  int64_t pairs = read_number();
  std::vector<int64_t> count(types);
  for (auto& number : count) number = read_number();
  std::vector<std::vector<Link>> after(types), before(types);
  for (int64_t i = 0; i < pairs; i++) {
    int a = (int)read_number(), b = (int)read_number();
    int64_t times = read_number();
    after[a].push_back({b, times});
    before[b].push_back({a, times});
  }
  classes = classes < types ? classes : types;
  slots = classes + 2;
  tenant.assign(slots, -1);
  parent.assign(types, -1);
  p.assign(slots, 0);
  pp = q = loss = std::vector<Row>(slots, Row(slots, 0));
  std::vector<int> slot_of(types, -1);
  for (int w = 0; w < classes; w++) enter(w, w, count, tokens, after[w], before[w], slot_of);
  for (int s = 0; s < classes; s++) renew_row(s);
  int free1 = classes, free2 = classes + 1;
  for (int word = classes; word < types; word++) {
    int slot = free1;
    free1 = free2;
    enter(slot, word, count, tokens, after[word], before[word], slot_of);
    for (int v = 0; v < slots; v++)
      if (tenant[v] >= 0 && v != slot)
        for (int w = v + 1; w < slots; w++)
          if (tenant[w] >= 0 && w != slot)
            loss[v][w] = loss[w][v] = loss[v][w] + both(v, slot) + both(w, slot) - merged(v, w, slot);
    renew_row(slot);
    merge_cheapest(slot_of, free1, free2);
  }
  std::vector<int> heads(types);
  for (int word = 0; word < types; word++) heads[word] = slot_of[head(word)];
  for (int step = 1; step < classes; step++) merge_cheapest(slot_of, free1, free2);  // the tree, which takes its time
  for (int found : heads) printf("%d\n", found);
}
