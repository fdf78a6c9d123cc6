import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';
import { createShutdown } from './shutdown.ts';

const create = () => {
  const ran: string[] = [];
  const shutdown = createShutdown(createLogger('test', 'silent'), 10_000);
  return { ran, shutdown, note: (name: string) => () => void ran.push(name) };
};

test('shutdown: what was added last ends first, once', async () => {
  const { ran, shutdown, note } = create();
  for (const name of ['log', 'server']) shutdown.add(name, note(name));
  await Promise.all([shutdown.run('test'), shutdown.run('again')]);
  expect(ran).toEqual(['server', 'log']);
});

test('shutdown: steps in a written order run by it, whatever the order they were started in', async () => {
  const { ran, shutdown, note } = create();
  shutdown.add('before', note('before'));
  const ends = shutdown.inOrder(['server', 'frames', 'log']);
  shutdown.add('after', note('after'));
  ends('log', note('log'));
  ends('server', note('server'));
  await shutdown.run('test');
  expect(ran).toEqual(['after', 'server', 'log', 'before']);
});

test('shutdown: a step that fails keeps none of the others from running', async () => {
  const { ran, shutdown, note } = create();
  const ends = shutdown.inOrder(['first', 'second']);
  ends('first', () => Promise.reject(new Error('cannot end')));
  ends('second', note('second'));
  await shutdown.run('test');
  expect(ran).toEqual(['second']);
});

test('shutdown: a step has one thing to run', () => {
  const ends = create().shutdown.inOrder(['log']);
  ends('log', () => undefined);
  expect(() => ends('log', () => undefined)).toThrow('the step log of the shutdown is given twice');
});
