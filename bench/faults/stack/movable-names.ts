import { createRequire, syncBuiltinESMExports } from 'node:module';
import { readFileSync } from 'node:fs';
import { namesFile } from '../../machine/env.ts';
import { isStackName } from './stack-names.ts';

// Loaded before a service's own code, in every thread: resolves the stack's names to this machine, or fails while the
// names file contains `gone`. Other names are resolved normally.

type Done = (error: NodeJS.ErrnoException | null, ...found: unknown[]) => void;
type Look = (name: string, ...rest: unknown[]) => unknown;
type Names = Record<'lookup' | 'resolve4' | 'resolve6', Look> & {
  readonly promises: Record<'lookup' | 'resolve4' | 'resolve6', (name: string, ...rest: unknown[]) => Promise<unknown>>;
};

const file = namesFile();
const address = '127.0.0.1';
/** Time until a query to an unresponsive name server fails; a real system waits at least this long. */
const silenceMs = 2_000;

function isGone(): boolean {
  try {
    return readFileSync(file ?? '', 'utf8').trim() === 'gone';
  } catch {
    // The file does not exist yet, so names resolve.
    return false;
  }
}

function noServer(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), { code: 'EAI_AGAIN', syscall: 'getaddrinfo' });
}

/** Arguments of a callback for a name of the stack; undefined if the name has no address of the family. */
function found(kind: 'lookup' | 'resolve4' | 'resolve6', options: unknown): readonly unknown[] | undefined {
  if (kind === 'resolve6') return undefined;
  if (kind === 'resolve4') return [[address]];
  const wantsAll = typeof options === 'object' && options !== null && 'all' in options && options.all === true;
  return wantsAll ? [[{ address, family: 4 }]] : [address, 4];
}

if (file !== undefined) {
  const dns = createRequire(import.meta.url)('node:dns') as Names;
  for (const kind of ['lookup', 'resolve4', 'resolve6'] as const) {
    const real = dns[kind];
    dns[kind] = (name, ...rest) => {
      const done = rest.at(-1);
      if (!isStackName(name) || typeof done !== 'function') return real(name, ...rest);
      const answer = isGone() ? undefined : found(kind, rest[0]);
      if (answer === undefined) setTimeout(() => (done as Done)(noServer(name)), isGone() ? silenceMs : 0);
      else setImmediate(() => (done as Done)(null, ...answer));
      return undefined;
    };
    const realPromise = dns.promises[kind];
    dns.promises[kind] = (name, ...rest) => {
      if (!isStackName(name)) return realPromise(name, ...rest);
      return new Promise((resolve, reject) => {
        dns[kind](name, rest[0] ?? {}, (error: Error | null, ...answer: unknown[]) => {
          if (error !== null) reject(error);
          else
            resolve(kind === 'lookup' && answer.length === 2 ? { address: answer[0], family: answer[1] } : answer[0]);
        });
      });
    };
  }
  syncBuiltinESMExports();
}
