import { expect, test } from 'vitest';
import { describeVariable, environmentPage, services, tools } from './environment-page.ts';

const variables = [...services, ...tools].flatMap((program) => Object.entries(program.variables));

test('environment page: has a row for every variable of every service and tool', () => {
  const page = environmentPage();
  expect(variables.length).toBeGreaterThan(100);
  for (const [name] of variables) expect(page).toMatch(new RegExp(`\\| \`${name}\` \\|`));
});

test('environment page: every variable has a meaning, and the unit that its name contains', () => {
  const units = { MS: 'ms', BYTES: 'bytes', MIB: 'MiB', PERCENT: '%' };
  for (const [name, variable] of variables) {
    const { meaning, unit } = describeVariable(variable);
    expect({ name, meaning }).not.toEqual({ name, meaning: '' });
    for (const [word, wanted] of Object.entries(units)) {
      if (name.split('_').includes(word)) expect({ name, unit }).toEqual({ name, unit: wanted });
    }
  }
});

test('environment page: services agree on the variables they share', () => {
  const shared = services.flatMap((service) =>
    Object.entries(service.variables).flatMap(([name, variable]) =>
      services.flatMap((other) => {
        const theirs = other.variables[name];
        return theirs === undefined ? [] : [[name, describeVariable(variable), describeVariable(theirs)] as const];
      }),
    ),
  );
  expect(shared.map(([name, ours]) => [name, ours])).toEqual(shared.map(([name, , theirs]) => [name, theirs]));
});

test('environment page: a row shows whether its variable is required or secret, and shows large values in a larger unit', () => {
  const rowOf = (name: string): string | undefined =>
    environmentPage()
      .split('\n')
      .find((line) => line.startsWith(`| \`${name}\``));
  expect(rowOf('SECRETS_KEY')).toMatch(/\*\*required\*\* .* 32 bytes in base64 .* Secret \|/);
  expect(rowOf('QUEUE_BYTES_MAX')).toContain('| `67108864` (64 MiB) | bytes | 1048576 or more |');
  expect(rowOf('RETRY_WINDOW_MS')).toContain('| `14400000` (4 h) | ms | 1000 or more |');
  expect(rowOf('LOG_REPLICAS')).toContain('| `1` |  | 1 to 5 |');
});
