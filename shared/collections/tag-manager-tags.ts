import { Type } from 'typebox';
import {
  defineCollection,
  enabledStatus,
  idList,
  nameField,
  references,
  textOf,
} from '../contracts/config/define-collection.ts';

/** What a page runs when one of its triggers fires. */
export const tagManagerTags = defineCollection({
  name: 'tagManagerTags',
  noun: 'tag manager tag',
  body: Type.Object({
    name: nameField,
    tagManagerId: Type.String({ minLength: 1, maxLength: 64 }),
    type: Type.Enum(['CustomHtml', 'CustomScript', 'ImagePixel', 'TrackEvent']),
    status: enabledStatus,
    /** Markup, script, URL or event name, as the type says. */
    content: Type.String({ maxLength: 100_000 }),
    priority: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
    triggerIds: idList(),
    blockingTriggerIds: idList(),
  }),
  defaults: { status: 'Enabled', content: '', priority: 0, triggerIds: [], blockingTriggerIds: [] },
  filters: ['tagManagerId', 'type', 'status'],
  references: [
    references('tagManagerId', 'tagManagers'),
    references('triggerIds', 'tagManagerTriggers'),
    references('blockingTriggerIds', 'tagManagerTriggers'),
  ],
  describe: ({ type, status }) => ({ type: textOf(type), summary: textOf(status) }),
});
