import { expect, test } from 'vitest';
import { formFlags } from './flag-values.ts';

test('flags: the details of each flag have the members that typed libraries require', () => {
  const { details } = formFlags({ button: 'Green', banner: false });
  const metadata = { id: expect.any(Number) as unknown, version: expect.any(Number) as unknown };
  expect(details).toMatchObject({
    flags: {
      button: { key: 'button', enabled: true, variant: 'Green', metadata },
      banner: { key: 'banner', enabled: false, metadata },
    },
  });
});
