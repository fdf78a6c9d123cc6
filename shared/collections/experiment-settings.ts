import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, nullable } from './define.ts';

const tokenCharsMax = 32;

const body = Type.Object({
  isEnabled: Type.Boolean(),
  /** What browsers and servers ask for assignments with. */
  token: Type.String({ description: 'Made by the service; cannot be changed.' }),
  /** Domains whose pages may ask for assignments; null is all. */
  whitelistDomains: nullable(Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: 1_000 })),
});

export type ExperimentSettingBody = Static<typeof body>;

/** How the account runs its experiments. */
export const experimentSettings = defineCollection({
  name: 'experimentSettings',
  noun: 'experiment setting',
  single: true,
  body,
  defaults: { isEnabled: true, whitelistDomains: null },
  readOnly: ['token'],
  generate: (randomText) => ({ token: `exp_${randomText(tokenCharsMax)}` }),
  describe: (setting) => ({ type: '', summary: (setting as ExperimentSettingBody).isEnabled ? 'enabled' : 'disabled' }),
});
