/** The environment of a stack under test: that of the tests, with one pipeline thread, overridden by `own`. */
export function stackTestEnv(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  // Each thread loads all modules, which costs more than most tests.
  return { ...process.env, PIPELINE_THREADS: '1', ...own };
}
