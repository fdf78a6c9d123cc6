import { readFileSync } from 'node:fs';
import { clockFile } from '../../machine/env.ts';

// Loaded before a service's own code, in every thread of it: `Date` is off by the value of a file, as after an operator has
// set the machine's clock. Monotonic time and timers go on as they are. Other processes keep the clock they have, and so
// do threads where services run from their sources.

const everyMs = 20;
const file = clockFile();
const RealDate = Date;
let offMs = 0;

const now = (): number => RealDate.now() + offMs;

const MovableDate = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  apply: () => new MovableDate().toString(),
  get: (target, property, receiver): unknown => (property === 'now' ? now : Reflect.get(target, property, receiver)),
});

function look(from: string): void {
  try {
    offMs = Number(readFileSync(from, 'utf8')) || 0;
  } catch {
    // Not written yet: the clock is right.
  }
}

if (file !== undefined) {
  globalThis.Date = MovableDate;
  look(file);
  setInterval(() => look(file), everyMs).unref();
}
