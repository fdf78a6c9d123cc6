import { expect, expectTypeOf, test } from 'vitest';
import { defaultsOf } from './env.ts';
import { defineSettings, fromEnv } from './settings.ts';
import { count, flag, optionalText } from './variables.ts';

const declared = defineSettings({
  eventsMax: fromEnv({ VIEW_EVENTS_MAX: count('Events in the view', 200) }),
  isOn: fromEnv({ VIEW_ON: flag('Whether there is a view', true) }),
  path: fromEnv({ VIEW_PATH: optionalText('Where it is') }),
  rowsPerInsert: 500,
  compression: 'grown',
  rate: {
    perS: 7,
    burst: fromEnv({ VIEW_S: count('Seconds at once', 2, { unit: 's' }) }, (env) => env.VIEW_S * 7),
  },
});

test('settings: one declaration of variables and constants gives the variables, the reader and the type', () => {
  expect(Object.keys(declared.variables)).toEqual(['VIEW_EVENTS_MAX', 'VIEW_ON', 'VIEW_PATH', 'VIEW_S']);
  const settings = declared.read({ ...defaultsOf(declared.variables), VIEW_S: 3, VIEW_PATH: '/x' });
  expect(settings).toEqual({
    eventsMax: 200,
    isOn: true,
    path: '/x',
    rowsPerInsert: 500,
    compression: 'grown',
    rate: { perS: 7, burst: 21 },
  });
  expectTypeOf(settings.eventsMax).toEqualTypeOf<number>();
  expectTypeOf(settings.rowsPerInsert).toEqualTypeOf<number>();
  expectTypeOf(settings.isOn).toEqualTypeOf<boolean>();
  expectTypeOf(settings.path).toEqualTypeOf<string | undefined>();
  expectTypeOf(settings.rate.burst).toEqualTypeOf<number>();
});
