import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, idList, nameField, nullable, references } from '../contracts/config/define-collection.ts';

const body = Type.Object({
  name: nullable(nameField),
  isEnabled: Type.Boolean(),
  /** Percent of sessions that are recorded. */
  sampleRate: Type.Number({ minimum: 0, maximum: 100 }),
  maskAllText: Type.Boolean(),
  maskAllInputs: Type.Boolean(),
  /** CSS selectors of elements that are left out of a recording. */
  blockSelectors: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { maxItems: 200 }),
  /** Sources whose sessions are recorded; null means all web sources. */
  sourceIds: nullable(idList()),
});

type ReplaySettingBody = Static<typeof body>;

/**
 * Settings for session recording in a browser library, served with the settings document. Sluice itself does not
 * record sessions.
 */
export const replaySettings = defineCollection({
  name: 'replaySettings',
  noun: 'replay setting',
  ids: 'slug',
  single: true,
  body,
  defaults: {
    name: null,
    isEnabled: false,
    sampleRate: 100,
    maskAllText: true,
    maskAllInputs: true,
    blockSelectors: [],
    sourceIds: null,
  },
  references: [references('sourceIds', 'sources')],
  describe: (setting) => {
    const { isEnabled, sampleRate } = setting as ReplaySettingBody;
    return { type: '', summary: `${isEnabled ? 'enabled' : 'disabled'}, ${sampleRate} % of sessions` };
  },
});
