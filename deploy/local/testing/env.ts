/** The environment of a stack under test: that of the tests, overridden by `own`. */
export function stackTestEnv(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...own };
}
