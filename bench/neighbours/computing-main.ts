const turnMs = 20;

/** Uses one core until the process is ended, like a program unrelated to Sluice. */
function compute(): void {
  for (const until = performance.now() + turnMs; performance.now() < until;);
  setImmediate(compute);
}

compute();
