// SPDX-License-Identifier: MIT
// Written by `weft completion types` from the descriptors of tables; not to be changed by hand.

/** Binary columns: time of blocking by columns of time. */
export interface BlockingColumns {
  column: Uint32Array;
  wait_ns: Float64Array;
  io_ns: Float64Array;
}

/** Binary columns: calls of functions. */
export interface CallsColumns {
  start_ns: Float64Array;
  end_ns: Float64Array;
  thread: Uint32Array;
  function: Uint32Array;
  depth: Uint16Array;
  flags: Uint8Array;
  self_ns: Float64Array;
}

/** A row of JSON: what makes executions of B slow. */
export interface CompareCausesRow {
  executions: number; // executions with this cause
  duration_ns: number | null; // their mean duration
  difference_ns: number | null; // how much slower they are there
  node: number | null; // the node
  context: number; // the node above it that has half of the difference
  context_ns: number | null; // the difference there
  cause: string | null; // the cause
  path: string | null; // frames from the root
  example: number | null; // an execution in the middle
  command: string | null; // the command that opens it
}

/** Binary columns: what makes executions of B slow. */
export interface CompareCausesColumns {
  n_items: Uint32Array;
  duration_ns: Float64Array;
  difference_ns: Float64Array;
  node: Int32Array;
  context: Int32Array;
  context_ns: Float64Array;
  example: Uint32Array;
}

/** A row of JSON: differences of exclusive time. */
export interface CompareDifferencesRow {
  node: number; // the node of the tree
  difference_ns: number | null; // difference of the exclusive time, B - A
  low_ns: number | null; // lower bound of it, 95 %
  high_ns: number | null; // upper bound of it, 95 %
  mean_a_ns: number | null; // mean of A
  mean_b_ns: number | null; // mean of B
  sd_a_ns: number | null; // standard deviation of A
  sd_b_ns: number | null; // standard deviation of B
  total_a_ns: number | null; // inclusive mean of A
  total_b_ns: number | null; // inclusive mean of B
  n_a: number; // executions of A that have it
  n_b: number; // executions of B that have it
  t: number | null; // Welch's t
  df: number | null; // degrees of freedom
  p: number | null; // p-value
  p_adjusted: number | null; // p-value, Benjamini-Hochberg
  effect: number | null; // Hedges' g
  sure: boolean; // significant
  threads: string | null; // other threads of the path
  confidence: string | null; // of the path
  path: string | null; // its frames from the root
  share: number | null; // share of the difference of durations
}

/** Binary columns: differences of exclusive time. */
export interface CompareDifferencesColumns {
  node: Uint32Array;
  difference_ns: Float64Array;
  low_ns: Float64Array;
  high_ns: Float64Array;
  mean_a_ns: Float64Array;
  mean_b_ns: Float64Array;
  total_a_ns: Float64Array;
  total_b_ns: Float64Array;
  n_a: Uint32Array;
  n_b: Uint32Array;
  t: Float64Array;
  df: Float64Array;
  p: Float64Array;
  p_adjusted: Float64Array;
  effect: Float64Array;
  is_sure: Uint8Array;
}

/** A row of JSON: executions of a group. */
export interface CompareExecutionsRow {
  id: number; // its id in the database
  trace: string | null; // file of its trace
  tag: string | null; // tag of its trace
  tid: number; // tid of its thread
  thread: string; // name of its thread
  start_ns: number; // its start
  duration_ns: number | null; // its duration
  command: string | null; // the command that opens it
}

/** A row of JSON: metrics of two groups. */
export interface CompareMetricsRow {
  metric: string | null; // the metric
  mean_a: number | null; // mean of A
  mean_b: number | null; // mean of B
  sd_a: number | null; // standard deviation of A
  sd_b: number | null; // standard deviation of B
  p50_a: number | null; // median of A
  p50_b: number | null; // median of B
  p99_a: number | null; // 99th percentile of A
  p99_b: number | null; // 99th percentile of B
  difference: number | null; // difference of the means, B - A
  low: number | null; // lower bound of it, 95 %
  high: number | null; // upper bound of it, 95 %
  t: number | null; // Welch's t
  df: number | null; // degrees of freedom
  p: number | null; // p-value
  p_adjusted: number | null; // p-value, Benjamini-Hochberg
  effect: number | null; // Hedges' g
}

/** Binary columns: metrics of two groups. */
export interface CompareMetricsColumns {
  metric: Uint32Array;
  mean_a: Float64Array;
  mean_b: Float64Array;
  sd_a: Float64Array;
  sd_b: Float64Array;
  p50_a: Float64Array;
  p50_b: Float64Array;
  p99_a: Float64Array;
  p99_b: Float64Array;
  difference: Float64Array;
  low: Float64Array;
  high: Float64Array;
  t: Float64Array;
  df: Float64Array;
  p: Float64Array;
  p_adjusted: Float64Array;
  effect: Float64Array;
}

/** A row of JSON: the threads of a CPU. */
export interface CpuThreadsRow {
  tid: number | null; // tid of the thread
  thread: string | null; // name of the thread
  run_ns: number; // on the CPU, interrupts included
  share: number | null; // share of the window
  cpu_ns: number; // CPU time there
  runs: number; // times that it came to the CPU
}

/** A row of JSON: what each CPU did. */
export interface CpusRow {
  host: number; // its host
  cpu: number | null; // its number
  busy_share: number | null; // share of the window that it was busy
  running_ns: number | null; // threads ran, but idle tasks
  user_ns: number | null; // running in user mode
  kernel_ns: number | null; // running in the kernel
  kernel_low_ns: number | null; // lower bound of kernel time, 95 %
  kernel_high_ns: number | null; // upper bound of kernel time, 95 %
  mode_unknown_ns: number | null; // running in an unknown mode
  mode_source: string | null; // where the modes are from: system_calls, samples or both
  interrupted_ns: number | null; // in interrupts
  idle_ns: number | null; // idle
  unknown_ns: number; // unknown
  runs: number; // times that a thread came to it
  migrations: number; // of these, from another CPU
  threads_run: number; // threads that ran on it
}

/** A row of JSON: why executions of a type are slow. */
export interface FindingsRow {
  type: string; // type of executions
  significant: boolean; // it was tested, and holds
  explanation: string | null; // why executions are slow
  confidence: number | null; // confidence, 0 to 1
  confidence_level: string | null; // the same in words
}

/** A row of JSON: durations of each type of executions. */
export interface ExecutionTypesRow {
  type: string; // the type
  count: number; // its executions
  unfinished: number; // whose end is not in the trace
  lossy: number; // with events of their time lost
  left_out: number; // omitted by the condition of the rule
  ends_unmatched: number; // ends without a start
  sum_ns: number; // time of all whole ones
  mean_ns: number | null; // mean
  sd_ns: number | null; // standard deviation
  min_ns: number | null; // shortest
  p50_ns: number | null; // median
  p90_ns: number | null; // 90th percentile
  p99_ns: number | null; // 99th percentile
  max_ns: number | null; // longest
}

/** A row of JSON: executions and their metrics. */
export interface ExecutionsRow {
  start_ns: number; // its start
  end_ns: number; // its end
  type: string | null; // its type
  key: number | null; // value of the matched field
  tid: number | null; // tid of the thread that began it
  thread: string | null; // name of the thread that began it
  end_tid: number | null; // tid of the thread that ended it
  flags: string | null; // cut_start, unfinished, nested, lossy
  duration_ns: number | null; // its duration
}

/** Binary columns: executions of a comparison. */
export interface ExecutionsComparedColumns {
  id: Float64Array;
  source: Uint32Array;
  tid: Float64Array;
  thread: Uint32Array;
  start_ns: Float64Array;
  end_ns: Float64Array;
  flags: Uint8Array;
}

/** A row of JSON: what happens during executions. */
export interface FrequenciesRow {
  label: string; // what is counted
  count: number; // how often in the trace
  slow_count: number; // how often in slow executions
  slow_mean: number | null; // how often in each of them
  others_count: number; // how often in the others
  others_mean: number | null; // how often in each of them
  slow_mean_ns: number | null; // mean time in slow executions
  others_mean_ns: number | null; // mean time in the others
  p: number | null; // probability that the difference is chance
  p_adjusted: number | null; // the same, Benjamini-Hochberg
}

/** A row of JSON: calls and times of each function. */
export interface FunctionsRow {
  count: number; // calls entered in the trace
  self_ns: number; // self time of closed calls
  self_share: number | null; // share of the self time of all functions
  inclusive_ns: number; // time with callees; under recursion of the outermost call
  min_ns: number | null; // shortest closed call
  mean_ns: number | null; // mean of closed calls
  p50_ns: number | null; // median
  p90_ns: number | null; // 90th percentile
  p99_ns: number | null; // 99th percentile
  p999_ns: number | null; // 99.9th percentile
  max_ns: number | null; // longest closed call
  threads: number; // threads that call it
  name: string | null; // its name
  id: number | null; // its number in the source
  module: string | null; // its module
  address: number | null; // its address
  max_tid: number | null; // thread of the longest call
  max_start_ns: number | null; // start of the longest call
  open_count: number; // calls still open at the end
  open_ns: number; // their time up to the end, with callees
  open_self_ns: number; // their self time
  cut_count: number; // calls entered before the trace
  cut_ns: number; // their time in the trace
  fn?: number | null; // id of the function
}

/** A row of JSON: threads of a trace. */
export interface InfoThreadsRow {
  tid: number; // tid of the thread
  pid: number | null; // its process
  generation: number; // how often the tid was used before
  name: string; // its name
  calls: number; // its calls
  cut_calls: number; // calls entered before the trace
  max_depth: number; // deepest call
  first_ns: number | null; // its first event
  last_ns: number | null; // its last event
  events: number; // other events
  foreign: boolean; // of another process than the program's
}

/** A row of JSON: wait-for relations of threads. */
export interface InterplayCellsRow {
  waiter_tid: number | null; // tid of the waiter
  waiter: string | null; // name of the waiter
  releaser_tid: number | null; // tid of the thread that ended the waits
  releaser: string | null; // name of the thread that ended the waits
  count: number; // waits
  sum_ns: number; // their time
  share: number | null; // share of all waiting
  longest_ns: number; // the longest one
  longest_at_ns: number; // its start
  objects: number; // objects waited for
  object_id: number | null; // number of the object of most time
  object: string | null; // its name
  object_kind: string | null; // its kind
}

/** Binary columns: wait-for relations of threads. */
export interface InterplayCellsColumns {
  waiter: Uint32Array;
  releaser: Int32Array;
  count: Float64Array;
  sum_ns: Float64Array;
  longest_ns: Float64Array;
  longest_at_ns: Float64Array;
  n_objects: Uint32Array;
  object: Int32Array;
}

/** A row of JSON: where records are lost. */
export interface InterplayLossesRow {
  from_ns: number; // last record before the loss
  to_ns: number; // first record after it
  tid: number | null; // tid of the thread
  thread: string | null; // name of the thread
  records: number; // records lost
}

/** A row of JSON: objects that threads wait for. */
export interface InterplayObjectsRow {
  object_id: number; // number of the object in the trace
  object: string | null; // its name
  kind: string | null; // mutex, condition, join ...
  pid: number | null; // its process
  waits: number; // waits for it
  wait_ns: number; // their time
  waiters: number; // threads that waited for it
  uncontended: number | null; // uncontended acquisitions
  releases: number | null; // releases
  never_released: boolean; // waited for, and never released
  reused: boolean; // another object was at its address before
}

/** A row of JSON: wait sites and wake sites. */
export interface InterplayPairsRow {
  wait_function: string | null; // the waiting function
  release_function: string | null; // the function that ends the waits
  kind: string | null; // kind of the object
  count: number; // waits
  sum_ns: number; // their time
  longest_ns: number; // the longest one
  longest_at_ns: number; // its start
  longest_tid: number | null; // its thread
  wait_path: string | null; // call path of the waiting function
  release_path: string | null; // call path of the releasing function
  confirmed: number; // waits whose release and wakeup agree
  ambiguous: number; // waits that several releases may have ended
}

/** Binary columns: wait sites and wake sites. */
export interface InterplayPairsColumns {
  wait_site: Int32Array;
  release_site: Int32Array;
  kind: Uint8Array;
  count: Float64Array;
  sum_ns: Float64Array;
  longest_ns: Float64Array;
  longest_at_ns: Float64Array;
  longest_waiter: Uint32Array;
}

/** A row of JSON: patterns of thread interaction. */
export interface InterplayPatternsRow {
  pattern: string | null; // convoy, ping_pong, idle_worker ...
  tid: number | null; // tid of the thread that it is about
  thread: string | null; // name of the thread that it is about
  threads: number | null; // threads in it
  object: string | null; // object that it is about
  from_ns: number; // where it starts
  to_ns: number; // where it ends
  count: number; // waits, wake-ups or acquisitions, by pattern
  value_ns: number; // time waited, or a period, by pattern
  before_ns: number; // the period before, or of the notification
  cost_ns: number | null; // time that threads were kept waiting
  share: number | null; // of the thread's life, or of the waits, by pattern
  text: string | null; // the evidence
}

/** A row of JSON: threads that wait and release. */
export interface InterplayThreadsRow {
  tid: number | null; // tid of the thread
  thread: string | null; // name of the thread
  waits: number | null; // its waits
  wait_ns: number | null; // their time
  share: number | null; // share of its lifetime
  longest_wait_ns: number | null; // the longest wait
  longest_wait_at_ns: number | null; // its start
  main_releaser_tid: number | null; // tid of the thread it waited for longest
  main_releaser: string | null; // name of that thread
  main_releaser_ns: number | null; // for how long
  releasers: number | null; // threads that it waited for
  io: number | null; // blocking I/O calls
  io_ns: number | null; // their time
  uncontended: number | null; // uncontended acquisitions
  releases: number | null; // calls that release
  released: number | null; // waits of others that it ended
  released_ns: number | null; // their time
  failed: number | null; // waits that failed
  cut: number | null; // waits that did not end
  least_release_depth: number | null; // least depth of its releases
  most_release_depth: number | null; // largest depth of its releases
  never_waits: boolean | null; // no wait and no blocking I/O
  waits_all_along: boolean | null; // one wait takes 95 % of its lifetime
  first_ns: number; // start of its lifetime in the window
  last_ns: number; // end of its lifetime in the window
}

/** Binary columns: threads that wait and release. */
export interface InterplayThreadsColumns {
  thread: Uint32Array;
  first_ns: Float64Array;
  last_ns: Float64Array;
  waits: Float64Array;
  wait_ns: Float64Array;
  longest_wait_ns: Float64Array;
  longest_wait_at_ns: Float64Array;
  io: Float64Array;
  io_ns: Float64Array;
  releases: Float64Array;
  uncontended: Float64Array;
  released: Float64Array;
  released_ns: Float64Array;
  failed: Float64Array;
  cut: Float64Array;
  main_releaser: Int32Array;
  main_releaser_ns: Float64Array;
  n_releasers: Uint32Array;
  least_depth: Uint32Array;
  most_depth: Uint32Array;
  never_waits: Uint8Array;
  waits_all_along: Uint8Array;
}

/** A row of JSON: waits and what ended them. */
export interface InterplayWaitsRow {
  start_ns: number; // start of the wait
  wait_ns: number; // its time
  end_ns: number; // its end
  release_ns: number | null; // when it was released
  waiter_tid: number | null; // tid of the waiter
  waiter: string | null; // name of the waiter
  wait_function: string | null; // the waiting function
  wait_call: string | null; // the call that waits
  releaser_tid: number | null; // tid of the thread that ended it
  releaser: string | null; // name of the thread that ended it
  release_function: string | null; // the releasing function
  release_call: string | null; // the call that releases
  object_id: number | null; // number of the object
  object: string | null; // its name
  kind: string | null; // its kind
  mode: string | null; // any or all of several
  awaited: number | null; // objects of which any or all
  confidence: string | null; // confidence of the releaser, or why there is none
  unknown: string | null; // why there is no releaser
  cut: boolean; // it did not end
  failed: boolean; // ended by its timeout or an error
  timed: boolean; // by a function that has a timeout
  lossy: boolean; // events of its time are lost
  open: boolean; // it did not end
  holder_tid: number | null; // tid of the holder, of a wait that did not end
  holder: string | null; // name of the holder, of a wait that did not end
}

/** Binary columns: waits and what ended them. */
export interface InterplayWaitsColumns {
  start_ns: Float64Array;
  end_ns: Float64Array;
  first_release_ns: Float64Array;
  last_release_ns: Float64Array;
  count: Uint32Array;
  sum_ns: Float64Array;
  longest_ns: Float64Array;
  waiter: Int32Array;
  releaser: Int32Array;
  object: Int32Array;
  wait_site: Int32Array;
  release_site: Int32Array;
  wait_depth: Uint16Array;
  release_depth: Uint16Array;
  n_objects: Uint32Array;
  kind: Uint8Array;
  mode: Uint8Array;
  confidence: Uint8Array;
  flags: Uint8Array;
  unknown: Uint8Array;
}

/** A row of JSON: calling contexts of a thread. */
export interface IntervalContextsRow {
  tid: number | null; // tid of the thread
  depth: number; // callers above it
  sum_ns: number; // time with callees
  self_ns: number; // self time
  count: number; // calls
  function: string | null; // the function
  function_id: number | null; // its number in the source
  folded_calls: number; // calls below it in contexts that are omitted
  folded_ns: number; // their time
  fn?: number | null; // id of the function
}

/** A row of JSON: what threads did in an interval. */
export interface IntervalThreadsRow {
  tid: number | null; // tid of the thread
  name: string | null; // name of the thread
  called_ns: number; // time in calls
  no_call_ns: number; // time outside any call
  outside_ns: number; // before its start, after its end
  calls: number; // calls
  top_self_ns: number | null; // self time of the top function
  top_function: string | null; // function in which it was longest
  folded_calls: number; // calls in contexts that are omitted
  folded_ns: number; // their time
  thread?: number | null; // id of the thread
}

/** Binary columns: when locks were held or waited for. */
export interface LanePiecesColumns {
  start_ns: Float64Array;
  end_ns: Float64Array;
  held_ns: Float64Array;
  held_waited_ns: Float64Array;
  waits_ns: Float64Array;
  count: Uint32Array;
  state: Uint8Array;
}

/** Binary columns: locks of threads. */
export interface LanesColumns {
  thread: Uint32Array;
  object: Uint32Array;
  first_piece: Uint32Array;
  n_pieces: Uint32Array;
  held_ns: Float64Array;
  held_waited_ns: Float64Array;
  waits_ns: Float64Array;
}

/** A row of JSON: what holders were doing while others waited. */
export interface LockContextsRow {
  lock_id: number; // place in the list of locks of the lock
  lock: string | null; // the lock
  tid: number | null; // tid of the holder
  thread: string | null; // name of the holder
  function: string | null; // its innermost function
  sum_ns: number; // time there while others waited
  share: number | null; // share of that time of the lock
}

/** A row of JSON: successive acquisitions, each of which waited for the one before. */
export interface LockConvoysRow {
  lock_id: number; // place in the list of locks of the lock
  lock: string | null; // the lock
  start_ns: number; // start of the convoy
  end_ns: number; // its end
  wait_ns: number; // time of all waits in it
  acquisitions: number; // acquisitions in it
  threads: number; // threads in it
}

/** A row of JSON: waits that did not end. */
export interface LockOpensRow {
  lock_id: number; // place in the list of locks of the lock
  lock: string | null; // the lock
  kind: string | null; // its kind
  waiter_tid: number | null; // tid of the waiter
  waiter: string | null; // name of the waiter
  function: string | null; // the waiting function
  start_ns: number; // start of the wait
  wait_ns: number; // its time up to the end of the trace
  holder_tid: number | null; // tid of the holder
  holder: string | null; // name of the holder
  deadlock: number | null; // number of the cycle of waits
  open: boolean | null; // always true
}

/** A row of JSON: locks acquired while another one is held. */
export interface LockOrdersRow {
  first_id: number; // place in the list of locks of the lock that is held
  first: string | null; // the lock that is held
  second_id: number; // place in the list of locks of the lock that is acquired
  second: string | null; // the lock that is acquired
  count: number; // how often
  first_at_ns: number; // the first time
  inverse: number; // how often in the other order
}

/** A row of JSON: holders and waiters. */
export interface LockPairsRow {
  lock_id: number; // place in the list of locks of the lock
  lock: string | null; // the lock
  blocker_tid: number | null; // tid of the holder
  blocker: string | null; // name of the holder
  waiter_tid: number | null; // tid of the waiter
  waiter: string | null; // name of the waiter
  sum_ns: number; // time of the waits
  count: number; // waits
  longest_ns: number; // the longest one
  longest_at_ns: number; // its start
}

/** A row of JSON: acquisition sites of locks. */
export interface LockSitesRow {
  lock_id: number; // place in the list of locks of the lock
  lock: string | null; // the lock
  function: string | null; // the calling function
  wait_ns: number; // time of contended acquisitions
  longest_wait_ns: number; // the longest wait
  contended: number; // contended acquisitions
  acquisitions: number; // acquisitions
  hold_ns: number | null; // time held
}

/** Binary columns: calling contexts of waits and holds. */
export interface LockTreeColumns {
  parent: Int32Array;
  depth: Uint16Array;
  function: Int32Array;
  count: Float64Array;
  sum_ns: Float64Array;
  self_ns: Float64Array;
}

/** A row of JSON: locks, most blame first. */
export interface LocksRow {
  lock_id: number; // place in the list
  lock: string | null; // its name; else its address, in text the place where it is first acquired
  blame_ns: number | null; // time that others were blocked by it, idle waits excluded
  wait_ns: number; // time of contended acquisitions
  idle_ns: number; // of it, waits for new work or for ends of threads
  longest_wait_ns: number; // the longest wait
  longest_wait_at_ns: number | null; // its start
  p99_wait_ns: number; // 99th percentile of waits
  contended: number; // contended acquisitions
  acquisitions: number; // acquisitions
  failed: number; // attempts that failed
  threads: number; // threads that use it
  blocking_ns: number; // held while others waited
  hold_ns: number | null; // time held
  longest_hold_ns: number | null; // the longest hold
  partial: number; // holds that are partly known
  convoys: number | null; // lock convoys
  longest_convoy: number | null; // acquisitions of the longest one
  kind: string | null; // mutex, rwlock, condition ...
  sources: string | null; // events, calls, futex
  pid: number | null; // its process
  address: string | null; // its address
  open: number; // waits that did not end
}

/** Binary columns: calls of threads as pixels show them. */
export interface LodItemsColumns {
  start_ns: Float64Array;
  end_ns: Float64Array;
  count: Uint32Array;
  covered_ns: Float64Array;
  longest_ns: Float64Array;
  depth: Uint16Array;
  function: Uint32Array;
  longest_function: Uint32Array;
  is_cluster: Uint8Array;
}

/** Binary columns: which items are of which thread. */
export interface LodThreadsColumns {
  id: Uint32Array;
  first_item: Uint32Array;
  n_items: Uint32Array;
}

/** Binary columns: calling contexts of all threads. */
export interface NodesColumns {
  parent: Int32Array;
  function: Uint32Array;
  depth: Uint16Array;
  count: Float64Array;
  sum_ns: Float64Array;
  self_ns: Float64Array;
}

/** Binary columns: nodes of the tree of a comparison. */
export interface NodesComparedColumns {
  parent: Int32Array;
  frame: Int32Array;
  confidence: Uint8Array;
}

/** A row of JSON: losses, repairs and other notes. */
export interface NotesRow {
  class: string | null; // lost, repaired or note
  kind: string | null; // what was found
  count: number; // how often
  threads: number | null; // threads; unknown: the whole trace
  first_offset: number | null; // offset of the first in the input
  text: string | null; // the same in words
  detail: string; // detail
}

/** A row of JSON: unusual calls and gaps, most unusual first. */
export interface OutliersRow {
  tid: number | null; // tid of the thread
  kind: string | null; // call or gap
  thread: string | null; // name of the thread
  start_ns: number; // its start
  end_ns: number; // its end
  duration_ns: number | null; // its duration
  self_ns: number | null; // its self time
  median_ns: number | null; // median of the function, or of the gaps
  times_median: number | null; // duration by median
  thread_share: number | null; // share of the thread's time
  score: number | null; // the rank: most unusual first
  depth: number; // callers above it
  function: string | null; // the function; of a gap the one before
  function_id: number | null; // its number in the source
  own: boolean; // unusual for its function
  long: boolean; // long for its thread
  deepest: boolean; // no listed call below it has most of its time
  cut_start: boolean; // entered before the trace
  cut_end: boolean; // open at the end of the trace
  repaired: boolean; // its exit is missing
}

/** A row of JSON: where a critical path changes threads. */
export interface PathArrowsRow {
  from_ns: number; // start of the arrow
  to_ns: number; // its end
  from_tid: number | null; // tid where it starts
  from_host: number | null; // its host
  to_tid: number | null; // tid where it ends
  to_host: number | null; // its host
  edge: string | null; // wakeup, lock, signal ...
  uncertain: boolean; // inferred
  wait_ns: number | null; // time of the path that it stands for
  lock_id: number | null; // place in the list of locks
  from_thread_id?: number | null; // id of the thread where it starts
  to_thread_id?: number | null; // id of the thread where it ends
}

/** A row of JSON: functions of a path. */
export interface PathFunctionsRow {
  running_ns: number; // time that it ran
  waiting_ns: number; // time that it waited
  function: string | null; // the function
  fn?: number | null; // id of the function
}

/** A row of JSON: waits that a path went through. */
export interface PathLocksRow {
  lock_id: number; // place in the list of locks
  edge: string | null; // what ended the waits
  kind: string | null; // kind of the object
  lock: string | null; // its name, else its address
  count: number; // waits
  sum_ns: number; // their time
  longest_ns: number; // the longest one
}

/** A row of JSON: threads that had the CPU, or kept a block device busy. */
export interface PathOthersRow {
  tid: number | null; // tid of the thread
  name: string | null; // name of the thread
  sum_ns: number; // for how long
}

/** A row of JSON: where the time of a path went. */
export interface PathReasonsRow {
  state: string | null; // state
  reason: string | null; // what ended the waits
  sum_ns: number; // time of the path
  segments: number; // segments
}

/** A row of JSON: segments of a critical path. */
export interface PathSegmentsRow {
  start_ns: number; // start of the segment
  end_ns: number; // its end
  tid: number | null; // tid of the thread
  thread: string | null; // name of the thread
  host: number | null; // its host
  state: string | null; // its state
  reason: string | null; // what ended a wait
  name: string | null; // interrupt, device or system call
  function: string | null; // function in which it was longest
  function_ns: number; // for how long
  cpu: number | null; // the CPU
  depth: number; // waits between the thread asked for and this one
  other_tid: number | null; // tid of the thread that ended the wait or had the CPU
  other_thread: string | null; // name of the thread that ended the wait or had the CPU
  other_ns: number; // for how long it had the CPU or the device
  other_function: string | null; // function in which that one was longest
  in_flight: boolean; // a message in flight
  uncertain: boolean; // inferred
  cycle: boolean; // its waker waits for this path
  too_deep: boolean; // within too many other waits
  unfinished: boolean; // did not end in the trace
  timed_out: boolean; // a wait that ended because its time was over
  stack: string | null; // folded stack of its samples
  other_stack: string | null; // folded stack of the other thread
  span: string | null; // span that covers most of it
  span_ns: number; // for how long
  thread_id?: number | null; // id of the thread
  fn?: number | null; // id of the function
  other_thread_id?: number | null; // id of the other thread
}

/** A row of JSON: spans of a path. */
export interface PathSpansRow {
  running_ns: number; // time that it ran
  waiting_ns: number; // time that it waited
  span: string; // the span
}

/** A row of JSON: threads of a path. */
export interface PathThreadsRow {
  tid: number | null; // tid of the thread
  host: number | null; // its host
  name: string | null; // its name
  sum_ns: number; // time of the path on it
  running_ns: number | null; // on a CPU
  user_ns: number | null; // in user mode
  kernel_ns: number | null; // in the kernel
  interrupted_ns: number | null; // stopped by interrupts
  preempted_ns: number | null; // runnable, without a CPU
  blocked_ns: number; // blocked
  unknown_ns: number; // state unknown
  segments: number; // segments
  thread_id?: number | null; // id of the thread
}

/** A row of JSON: processes of the recorded program. */
export interface ProcessesRow {
  pid: number; // the process
  parent: number | null; // its parent
  host: number; // its host
  name: string | null; // the program it ran last
  state: string | null; // recorded, partly or not_recorded
  why: string | null; // why not, or only partly
  by_kernel: boolean; // recorded by the kernel
  by_library: boolean; // recorded by the library
  start_ns: number; // its start
  end_ns: number | null; // its end
  from_ns: number | null; // recorded from here
  until_ns: number | null; // recorded up to here
  threads: number; // its threads
  lost_threads: number; // threads without a ring
  records: number; // records of the library
  lost_records: number; // records lost
  reason: string | null; // the reason in words
}

/** A row of JSON: types of executions that a trace suggests. */
export interface ProposalsRow {
  type: string; // type of executions
  count: number; // start events
  why: string | null; // what suggests it
  begin: string; // rule of the start, or of whole executions
  end: string | null; // rule of the end
  match: string | null; // field that both agree in
  within: string | null; // where the end is looked for
}

/** A row of JSON: threads and how far they were compressed. */
export interface RegtimeRow {
  tid: number | null; // tid of the thread
  pid: number | null; // its process
  name: string | null; // its name
  calls_before: number; // calls of the thread
  cut_before: number; // calls entered before the trace
  rows_after: number; // rows that they became
  ratio: number | null; // calls by rows
  records_before: number; // records of the calls: a leaf call 1, another one 2
  records_after: number; // records of the rows
  notable: number; // notable calls
  expressions: number; // runs of short calls
  nodes: number; // nodes in them
  others: number; // rows of aggregated nodes
  gaps: number; // gaps without a call
  outliers: number | null; // rows with an unusual call
  sliver_calls: number; // calls too short for a row
  sliver_ns: number; // their time
  folded_nodes: number; // nodes aggregated
  folded_calls: number; // calls aggregated
  folded_ns: number; // their self time
  expression_ns: number; // self time of all calls in runs
  other_share: number | null; // share of it that is aggregated
  negligible_nodes: number; // nodes below --negligible
  negligible_ns: number; // their time
  memory_rows: number | null; // rows that memory allowed, if too few
  factor: number | null; // by which thresholds were raised
  start_ns: number; // start of the first call
  end_ns: number; // end of the last call
  duration_threshold_ns: number; // calls are notable above this
  gap_threshold_ns: number; // gaps are notable above this
  span_threshold_ns: number; // runs are no longer than this
}

/** A row of JSON: rows of a thread, in order of calls. */
export interface RegtimeSegmentsRow {
  tid: number | null; // tid of the thread
  kind: string | null; // call, expression, node, other, gap or sliver
  depth: number; // depth of the call, or of the calls inside
  parent: number | null; // row of the parent
  function: string | null; // the function
  function_id: number | null; // its number in the source
  start_ns: number; // first start
  end_ns: number; // last end
  count: number | null; // calls
  records: number | null; // records: a leaf call 1, another one 2
  sum_ns: number | null; // time of the calls, with callees
  self_ns: number | null; // self time
  min_ns: number | null; // shortest call
  max_ns: number | null; // longest call
  n_folded: number | null; // nodes aggregated in it
  cut_start: boolean; // open at the start
  cut_end: boolean; // open at the end
  repaired: boolean; // an exit is missing
  outlier: boolean; // holds a call unusual for its function
}

/** A row of JSON: what a file reveals to its readers. */
export interface RevealedRow {
  kind: string | null; // path, user, address ...
  count: number; // how often it was found
  text: string; // the text
}

/** A row of JSON: threads of a cluster. */
export interface ShapeCardRow {
  tid: number | null; // tid of the thread
  name: string | null; // name of the thread
  count: number; // calls
  total_ns: number; // their time
  mean_ns: number | null; // mean
  stddev_ns: number | null; // standard deviation
  min_ns: number; // shortest
  p50_ns: number; // median
  p90_ns: number; // 90th percentile
  p99_ns: number; // 99th percentile
  p999_ns: number; // 99.9th percentile
  max_ns: number; // longest
  rate_per_s: number | null; // calls a second
  first_ns: number; // start of the first call
  ribbon: number | null; // its ribbon on the thread
}

/** A row of JSON: clusters of similar shapes. */
export interface ShapeClustersRow {
  id: number; // number of the cluster
  count: number; // calls
  total_ns: number; // their time
  mean_ns: number | null; // mean
  stddev_ns: number | null; // standard deviation
  min_ns: number; // shortest
  p50_ns: number; // median
  p90_ns: number; // 90th percentile
  p99_ns: number; // 99th percentile
  p999_ns: number; // 99.9th percentile
  max_ns: number; // longest
  threads: number; // threads
  shapes: number; // shapes in it
  depth: number; // levels of its deepest shape
  first_ns: number; // start of the first call
  first_tid: number | null; // its thread
  typical_ns: number; // start of a call of the median duration
  typical_tid: number | null; // its thread
  slowest_ns: number; // start of the slowest call
  slowest_tid: number | null; // its thread
  spikes: number; // calls far longer than usual
  drops: number; // stretches with few calls
  surprise: number | null; // rarity in bits
  ribbon: number | null; // its ribbon
  function: string | null; // the function
  function_id: number | null; // its number in the source
}

/** A row of JSON: stretches with few calls of a cluster. */
export interface ShapeDropsRow {
  from_ns: number; // start of the stretch
  to_ns: number; // its end
  duration_ns: number | null; // its duration
  count: number; // calls in it
  expected: number | null; // calls by the running median
  cluster: number; // the cluster
  function: string | null; // the function
}

/** A row of JSON: clusters on a thread. */
export interface ShapePresencesRow {
  cluster: number; // the cluster
  ribbon: number | null; // its ribbon on the thread
  first_ns: number; // start of the first call
  count: number; // calls
  total_ns: number; // their time
  mean_ns: number | null; // mean
  stddev_ns: number | null; // standard deviation
  min_ns: number; // shortest
  p50_ns: number; // median
  p90_ns: number; // 90th percentile
  p99_ns: number; // 99th percentile
  p999_ns: number; // 99.9th percentile
  max_ns: number; // longest
}

/** A row of JSON: calls far longer than their cluster's. */
export interface ShapeSpikesRow {
  tid: number | null; // its thread
  start_ns: number; // its start
  duration_ns: number | null; // its duration
  median_ns: number | null; // median of its cluster
  times_median: number | null; // duration by median
  cluster: number; // the cluster
  shape: number; // the shape
  function: string | null; // the function
}

/** A row of JSON: shapes and clusters of threads. */
export interface ShapeThreadsRow {
  tid: number | null; // tid of the thread
  name: string | null; // name of the thread
  calls: number; // calls that have a shape
  shapes: number; // shapes
  new_shapes: number; // shapes on no thread before
  all_shapes: number | null; // shapes of this and the threads before
  clusters: number; // clusters
  new_clusters: number; // clusters on no thread before
  all_clusters: number | null; // clusters of this and the threads before
  ribbons: number; // ribbons
  group: number; // similar threads have the same number
  cut_calls: number; // calls cut by the edges, without a shape
  excluded_calls: number; // calls of excluded functions
  limited_calls: number; // calls beyond the limit of shapes
}

/** A row of JSON: shapes of calls. */
export interface ShapesRow {
  id: number; // number of the shape
  cluster: number; // its cluster
  count: number; // calls
  total_ns: number; // their time
  mean_ns: number | null; // mean
  stddev_ns: number | null; // standard deviation
  min_ns: number; // shortest
  max_ns: number; // longest
  threads: number; // threads
  depth: number; // levels of calls
  callees: number; // different callees
  first_ns: number; // start of the first
  first_tid: number | null; // its thread
  slowest_ns: number; // start of the slowest
  slowest_tid: number | null; // its thread
  function: string | null; // the function
  function_id: number | null; // its number in the source
}

/** A row of JSON: shapes that appeared, vanished or changed. */
export interface ShapesChangesRow {
  kind: string | null; // new, gone or rate
  count_a: number; // calls in A
  count_b: number; // calls in B
  times_rate: number | null; // rate of A by that of B
  total_ns_a: number; // time in A
  total_ns_b: number; // time in B
  time_ns: number; // time that A has more, or less
  surprise: number | null; // rarity in bits
  score: number | null; // the rank: bits by time
  shape_a: number | null; // the shape in A
  cluster_a: number | null; // its cluster
  shapes_a: number; // shapes in A
  shape_b: number | null; // the shape in B
  cluster_b: number | null; // its cluster
  shapes_b: number; // shapes in B
  slowest_ns: number; // start of the slowest call
  slowest_tid: number | null; // its thread
  slowest_duration_ns: number | null; // its duration
  function: string | null; // the function
}

/** A row of JSON: checks of the answer itself. */
export interface ShapesChecksRow {
  name: string | null; // what is checked
  checked: number; // cases checked
  wrong: number; // of them wrong
  first_a: number | null; // the first wrong one
  first_b: number | null; // and the other one of it
  about: string | null; // when it holds
}

/** A row of JSON: shapes near one. */
export interface ShapesNearRow {
  distance: number | null; // distance to the shape asked for
  id: number; // number of the shape
  cluster: number; // its cluster
  count: number; // calls
  total_ns: number; // their time
  mean_ns: number | null; // mean
  stddev_ns: number | null; // standard deviation
  min_ns: number; // shortest
  max_ns: number; // longest
  threads: number; // threads
  depth: number; // levels of calls
  callees: number; // different callees
  first_ns: number; // start of the first
  first_tid: number | null; // its thread
  slowest_ns: number; // start of the slowest
  slowest_tid: number | null; // its thread
  function: string | null; // the function
  function_id: number | null; // its number in the source
}

/** A row of JSON: two shapes side by side. */
export interface ShapesPairsRow {
  level: number; // callers above the pair
  distance: number | null; // distance of the pair
  critical: boolean; // it makes up the whole distance
  a: number | null; // the shape on the left
  a_function: string | null; // its function
  b: number | null; // the shape on the right
  b_function: string | null; // its function
}

/** A row of JSON: rare calls, most surprising time first. */
export interface ShapesRareRow {
  tid: number | null; // its thread
  start_ns: number; // its start
  duration_ns: number | null; // its duration
  once: boolean; // the only call of its shape
  one_thread: boolean; // its shape is on one thread alone
  slow: boolean; // far longer than others of its shape
  deepest: boolean; // no listed callee has most of its time
  surprise: number | null; // rarity in bits
  surprising_ns: number; // the time that is rare
  score: number | null; // the rank: bits by time
  count: number | null; // calls of its shape
  function_calls: number; // calls of its function
  others_mean_ns: number | null; // mean of the others
  shape: number; // its shape
  cluster: number | null; // its cluster
  function: string | null; // its function
}

/** A row of JSON: traces of a database of executions. */
export interface SourcesRow {
  type: string; // type of the executions
  tag: string | null; // tag they were given
  host: string | null; // host of the trace
  trace: string; // file of the trace
  executions: number; // executions
  unfinished: number; // of them unfinished
  complete: boolean | null; // all executions of the trace are there
  realtime_ns: number | null; // wall clock at the start of the trace
}

/** Binary columns: states of threads as pixels show them. */
export interface StateItemsColumns {
  start_ns: Float64Array;
  end_ns: Float64Array;
  longest_ns: Float64Array;
  running_ns: Float64Array;
  count: Uint32Array;
  state: Uint8Array;
  reason: Uint8Array;
  name: Uint32Array;
}

/** A row of JSON: states of threads. */
export interface StatesRow {
  tid: number | null; // tid of the thread
  thread: string | null; // name of the thread
  start_ns: number; // start of the state
  end_ns: number; // end of the state
  duration_ns: number | null; // its duration
  cpu_ns: number | null; // run time by the thread's own clock
  state: string | null; // running, preempted, blocked ...
  reason: string | null; // what ended a wait
  name: string | null; // system call, or kind of interrupt
  number: number | null; // number of the interrupt
  cpu: number | null; // the CPU
  other_tid: number | null; // tid of the thread that woke it or got its CPU
  other: string | null; // name of the thread that woke it or got its CPU
  wake_ns: number | null; // when it was woken
  uninterruptible: boolean; // signals do not end the wait
  stopped: boolean; // by a signal or a debugger
  idle: boolean; // a kernel thread without work, or an idle task
  forked: boolean; // new, never ran before
  woken: boolean; // preempted since its wakeup
  inferred: boolean; // its start is inferred
  open: boolean; // its end is not recorded
  earlier: boolean; // since before the trace
  thread_id?: number | null; // id of the thread
}

/** A row of JSON: functions of a trace. */
export interface TraceFunctionsRow {
  id: number; // dense id of the function
  name: string | null; // its name
  module: string | null; // its module
  is_wait: boolean | null; // its name is one of waits
  count: number; // its calls
  self_ns: number; // its self time
}

/** A row of JSON: threads of a trace. */
export interface TraceThreadsRow {
  id: number; // dense id of the thread
  tid: number; // its tid
  pid: number; // its process; 0: unknown
  name: string; // its name
  calls: number; // its calls
  cut_calls: number; // calls entered before the trace
  events: number; // other events
  first_ns: number; // its first event
  last_ns: number; // its last event
  max_depth: number; // deepest call
  lost: number | null; // records lost
}

/** A row of JSON: what a thread's time went to. */
export interface WaitCausesRow {
  tid: number | null; // tid of the thread
  state: string | null; // state
  reason: string | null; // what ended the waits
  name: string | null; // system call, or kind of interrupt
  other_tid: number | null; // tid of the thread that had the CPU or woke it
  other: string | null; // name of the thread that had the CPU or woke it
  count: number; // states
  sum_ns: number; // their time
  share: number | null; // share of the thread's life
  longest_ns: number; // the longest one
  longest_at_ns: number; // its start
}

/** A row of JSON: what threads spent their time on. */
export interface WaitsRow {
  tid: number | null; // tid of the thread
  thread: string | null; // name of the thread
  first_ns: number; // start of its lifetime in the window
  last_ns: number; // end of its lifetime in the window
  life_ns: number | null; // its lifetime in the window
  cpu_ns: number | null; // CPU time
  cpu_clocked_ns: number | null; // of it, by the thread's own clock
  running_ns: number | null; // on a CPU
  running_user_ns: number | null; // running in user mode
  running_kernel_ns: number | null; // running in the kernel
  kernel_low_ns: number | null; // lower bound of kernel time, 95 %
  kernel_high_ns: number | null; // upper bound of kernel time, 95 %
  mode_unknown_ns: number | null; // running in an unknown mode
  mode_source: string | null; // where the modes are from: system_calls, samples or both
  interrupted_ns: number | null; // stopped by interrupts
  preempted_ns: number | null; // runnable, without a CPU
  blocked_ns: number | null; // blocked
  unknown_ns: number | null; // state unknown
  timer_ns: number | null; // blocked until a timer
  network_ns: number | null; // blocked until a network interrupt
  block_device_ns: number | null; // blocked until a block device
  device_ns: number | null; // blocked until another device
  ipi_ns: number | null; // blocked until an interrupt of another CPU
  woken_by_thread_ns: number | null; // blocked until a thread
  unexplained_ns: number | null; // blocked, reason unknown
  futex_ns: number | null; // blocked in futex calls
  preempted: number | null; // times preempted
  blocked: number | null; // times blocked
  unexplained_share: number | null; // share of its lifetime that is unexplained or unknown
  thread_id?: number | null; // id of the thread
}

/** A row of JSON: root calls of each thread. */
export interface RootsRow {
  tid: number | null; // tid of the thread
  thread: string | null; // name of the thread
  count: number; // root calls that start in the window
  open: number; // root calls open at its start
  sum_ns: number; // time of both in the window
  share: number | null; // share of the window
  longest_ns: number; // the longest call, as much of it as lies in the window
  longest_at_ns: number; // its start there
  longest_function: string | null; // its function
}

/** Analyses that answer with a plain list: api/NAME. */
export const LISTS = [
  { name: 'roots', text: 'calls without a caller: how many and how long on each thread' },
] as const;
