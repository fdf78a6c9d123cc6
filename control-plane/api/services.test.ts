import { expect, test } from 'vitest';
import { createServices, defineService } from './services.ts';

const clock = defineService<() => number>('clock');
const limit = defineService<number | undefined>('limit');

test('services: an endpoint gets the services it declares, under its own names, and no others', () => {
  const services = createServices();
  services.provide(clock, () => 7);
  services.provide(limit, undefined);
  const used = services.valuesOf({ time: clock }, 'getTime');
  expect(used.time()).toBe(7);
  expect(Object.keys(used)).toEqual(['time']);
  expect(services.valuesOf({ limit }, 'getLimit')).toEqual({ limit: undefined });
});

test('services: the start fails and names the service if nothing provides it, or two things do', () => {
  const services = createServices();
  services.provide(limit, 1);
  expect(() => services.valuesOf({ limit, clock }, 'getTime')).toThrow(
    'getTime uses the service "clock", which nothing provides',
  );
  expect(() => services.provide(limit, 2)).toThrow('the service "limit" is provided twice');
});
