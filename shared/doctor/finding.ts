export type Level = 'ok' | 'warn' | 'fail';

/** Result of one check and, unless it is good, advice. */
export type Finding = {
  readonly level: Level;
  /** Subject of the check, in a word or two. */
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

export function worstLevel(findings: readonly Finding[]): Level {
  const has = (level: Level): boolean => findings.some((finding) => finding.level === level);
  if (has('fail')) return 'fail';
  return has('warn') ? 'warn' : 'ok';
}
