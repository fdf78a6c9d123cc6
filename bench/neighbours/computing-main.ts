const turnMs = 20;

/** A program that has nothing to do with Sluice and takes a core until it is ended. */
function compute(): void {
  for (const until = performance.now() + turnMs; performance.now() < until;);
  setImmediate(compute);
}

compute();
