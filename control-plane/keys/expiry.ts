const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const yearsMax = 100;
const furthestMs = yearsMax * 366 * 86_400_000;

/** Reads `90d`, `12h` or a date; undefined when it is neither, or not in the future. */
export function readExpiry(text: string, now: Date): Date | undefined {
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const ms = unit === undefined ? Date.parse(text) : now.getTime() + Number(amount) * (unitMs[unit] ?? Number.NaN);
  const isSensible = ms > now.getTime() && ms < now.getTime() + furthestMs;
  return isSensible ? new Date(ms) : undefined;
}
