export type Level = 'ok' | 'warn' | 'fail';

/** One thing looked at: how it is and, where it is not well, what to do. */
export type Finding = {
  readonly level: Level;
  /** What was looked at, in a word or two. */
  readonly about: string;
  readonly detail: string;
  readonly advice?: string;
};

export const ok = (about: string, detail: string): Finding => ({ level: 'ok', about, detail });

export const warn = (about: string, detail: string, advice: string): Finding => ({
  level: 'warn',
  about,
  detail,
  advice,
});

export const fail = (about: string, detail: string, advice: string): Finding => ({
  level: 'fail',
  about,
  detail,
  advice,
});

/** The worst there is among them. */
export function worstLevel(findings: readonly Finding[]): Level {
  const has = (level: Level): boolean => findings.some((finding) => finding.level === level);
  if (has('fail')) return 'fail';
  return has('warn') ? 'warn' : 'ok';
}
