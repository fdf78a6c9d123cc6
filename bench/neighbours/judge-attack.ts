import type { Attack, Tally } from './attacks/attack.ts';

type Expected = NonNullable<Attack['expects']>;

/** An attack below this fraction of its rate gets a note. */
const rateShareMin = 0.8;

/** Responses per second that show that the attack happens. */
export function expectedPerS(
  { answers }: Expected,
  { tally, attackS }: { readonly tally: Pick<Tally, 'answers'>; readonly attackS: number },
): number {
  return answers.reduce((sum, status) => sum + (tally.answers[status] ?? 0), 0) / attackS;
}

/** A note on an attack that was clearly slower than it states. */
export function shortfallOf(expects: Attack['expects'], perS = 0): string | undefined {
  if (expects?.perS === undefined || perS >= expects.perS * rateShareMin) return undefined;
  return `only ${perS.toFixed(0)} of the stated ${expects.perS} per second were answered ${expects.answers.join(' or ')}`;
}

/** A failure if no request got an expected response: a bar must not be met because nothing happened. */
export function problemWith({ name, expects }: Pick<Attack, 'name' | 'expects'>, perS = 0): string | undefined {
  if (expects === undefined || perS > 0) return undefined;
  return `${name}: there was no attack, as no request was answered ${expects.answers.join(' or ')}`;
}
