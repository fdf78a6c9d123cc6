/** The inherited environment of a stack under test, overridden by its own settings. */
export function stackTestEnv(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...own };
}
