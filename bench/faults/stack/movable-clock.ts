import { readFileSync } from 'node:fs';
import { clockFile } from '../../machine/env.ts';

// Loaded before a service's own code, in every thread: shifts `Date` by the value in a file, as if an operator had set
// the machine's clock. Monotonic time and timers are unaffected. The clock is not shifted in other processes or in
// threads of services that run from source.

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
    // The file does not exist yet, so the clock is correct.
  }
}

if (file !== undefined) {
  globalThis.Date = MovableDate;
  look(file);
  setInterval(() => look(file), everyMs).unref();
}
