import { expect, test, vi } from 'vitest';
import { createLogger } from './logger.ts';
import { createScope } from './scope.ts';

const create = (deadlineMs = 10_000) => {
  const ended: string[] = [];
  const exits: number[] = [];
  const scope = createScope(createLogger('test', 'silent'), deadlineMs, (code) => void exits.push(code));
  const open = (name: string, order?: { readonly endsBefore: string }) =>
    scope.use(name, name, (one) => void ended.push(one), order);
  return { ended, exits, scope, open };
};

test('scope: resources end in reverse order, once', async () => {
  const { ended, scope, open } = create();
  for (const name of ['database', 'log', 'http']) expect(open(name)).toBe(name);
  expect(scope.ending).toBe(false);
  await Promise.all([scope.end('test'), scope.end('again')]);
  expect(scope.ending).toBe(true);
  expect(ended).toEqual(['http', 'log', 'database']);
});

test('scope: a resource with endsBefore ends right before the resource it names, however many were opened between them', async () => {
  const { ended, scope, open } = create();
  open('log');
  open('lease', { endsBefore: 'status' });
  open('actors', { endsBefore: 'status' });
  open('backlog');
  open('status');
  open('clock');
  await scope.end('test');
  expect(ended).toEqual(['clock', 'actors', 'lease', 'status', 'backlog', 'log']);
});

test('scope: resources still end if their endsBefore names each other or a resource that was never opened', async () => {
  const { ended, scope, open } = create();
  open('a', { endsBefore: 'b' });
  open('b', { endsBefore: 'a' });
  open('c', { endsBefore: 'never opened' });
  await scope.end('test');
  expect(ended.toSorted()).toEqual(['a', 'b', 'c']);
});

test('scope: a start that fails ends what it has opened, and passes its error on', async () => {
  const { ended, scope, open } = create();
  const start = scope.start(async () => {
    open('database');
    open('log');
    await Promise.reject(new Error('no server'));
    open('http');
  });
  await expect(start).rejects.toThrow('no server');
  expect(ended).toEqual(['log', 'database']);
});

test('scope: if a resource fails to end, all other resources still end', async () => {
  const { ended, scope, open } = create();
  open('database');
  scope.use('log', undefined, () => Promise.reject(new Error('cannot end')));
  scope.use('http', undefined, () => {
    throw new Error('cannot end');
  });
  await scope.end('test');
  expect(ended).toEqual(['database']);
});

test('scope: a resource that is opened while the scope ends, or after, ends as well', async () => {
  const { ended, scope, open } = create();
  open('database');
  scope.use('log', undefined, () => void open('opened meanwhile'));
  await scope.end('test');
  expect(ended).toEqual(['opened meanwhile', 'database']);
  open('opened after');
  await scope.end('again');
  expect(ended).toEqual(['opened meanwhile', 'database', 'opened after']);
});

test('scope: if the scope has not ended by its deadline, the process exits with 1', async () => {
  vi.useFakeTimers();
  try {
    const { exits, scope } = create(1_000);
    scope.use('log', undefined, () => new Promise<never>(() => undefined));
    void scope.end('test');
    await vi.advanceTimersByTimeAsync(999);
    expect(exits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(exits).toEqual([1]);
  } finally {
    vi.useRealTimers();
  }
});

test('scope: a resource under a name that is open already is refused', () => {
  const { open } = create();
  open('log');
  expect(() => open('log')).toThrow('the resource log is opened twice');
});
