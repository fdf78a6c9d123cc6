/** What processes started by the bench inherit. */
export function inheritedEnv(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
