/** Selects dead letters for a command. */
export type LetterChoice = {
  /** Only letters with exactly this reason. */
  readonly reason?: string | undefined;
  /** Only letters stored or last tried before this time, in ms since the epoch. */
  readonly toMs?: number | undefined;
  /** Only the letter with this sequence in its stream. */
  readonly seq?: number | undefined;
};

export function isChosen(
  { reason, toMs = Infinity, seq }: LetterChoice,
  letter: { readonly reason: string; readonly storedAtMs: number; readonly seqs: readonly number[] },
): boolean {
  if (reason !== undefined && letter.reason !== reason) return false;
  return letter.storedAtMs < toMs && (seq === undefined || letter.seqs.includes(seq));
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads an age such as `90m`, `12h` or `7d`. Returns ms; throws if it is invalid. */
export function readAge(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  if (ms === undefined) throw new Error('--older-than must be an age such as 90m, 12h or 7d');
  return Number(number) * ms;
}
