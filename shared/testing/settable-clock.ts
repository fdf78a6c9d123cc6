import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A wall clock that a test can set in a process that it starts, including the process's threads and libraries. */
export type SettableClock = {
  /** Environment variables to start the process with. */
  readonly variables: Readonly<Record<string, string>>;
  /** Sets the clock, within `lookEveryMs`, to `shiftMs` after the true time; a negative value is before it. */
  set(shiftMs: number): void;
  remove(): void;
};

const lookEveryMs = 50;

/** Creates a clock that shows the true time until it is set. The monotonic clock is unaffected. */
export function createSettableClock(): SettableClock {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clock-'));
  const file = join(folder, 'shift');
  const set = (shiftMs: number): void => writeFileSync(file, String(shiftMs));
  set(0);
  const module = Buffer.from(preload(file)).toString('base64');
  return {
    variables: { NODE_OPTIONS: `--import=data:text/javascript;base64,${module}` },
    set,
    remove: () => rmSync(folder, { recursive: true }),
  };
}

const preload = (file: string): string => `
import { readFileSync } from 'node:fs';
const TrueDate = Date;
let shiftMs = 0;
const now = () => TrueDate.now() + shiftMs;
globalThis.Date = new Proxy(TrueDate, {
  construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  apply: () => new TrueDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
setInterval(() => {
  try {
    shiftMs = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
  } catch {
    // The test is over.
  }
}, ${lookEveryMs}).unref();
`;
