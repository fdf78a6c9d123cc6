/** What the stack under test inherits, its own settings laid over. */
export function stackTestEnv(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...own };
}
