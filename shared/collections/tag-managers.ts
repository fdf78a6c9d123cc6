import type { Static } from 'typebox';
import { Type } from 'typebox';
import {
  defineCollection,
  descriptionField,
  enabledStatus,
  idList,
  nameField,
  nullable,
  references,
  textOf,
} from '../contracts/config/define-collection.ts';
import { logicSchema } from '../routing/predicate/logic-schema.ts';
import { checkLogic } from '../routing/predicate/predicate.ts';

/** A container of tags, triggers and variables for one web source. */
export const tagManagers = defineCollection({
  name: 'tagManagers',
  allowlisted: false,
  noun: 'tag manager',
  uniqueNames: true,
  body: Type.Object({
    name: nameField,
    description: descriptionField,
    status: enabledStatus,
    /** The source whose pages load it. */
    sourceId: nullable(Type.String({ minLength: 1, maxLength: 64 })),
  }),
  defaults: { description: null, status: 'Enabled', sourceId: null },
  filters: ['status'],
  references: [references('sourceId', 'sources')],
  describe: ({ status }) => ({ type: '', summary: textOf(status) }),
});

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

const body = Type.Object({
  name: nameField,
  tagManagerId: Type.String({ minLength: 1, maxLength: 64 }),
  type: Type.Enum([
    'PageView',
    'DomReady',
    'WindowLoaded',
    'Click',
    'FormSubmission',
    'ScrollDepth',
    'Timer',
    'HistoryChange',
    'CustomEvent',
  ]),
  /** Name of the event a CustomEvent waits for. */
  eventName: nullable(Type.String({ minLength: 1, maxLength: 1_000 })),
  /** What must be true of the page's variables besides. */
  logic: nullable(logicSchema),
});

/** When tags fire. */
export const tagManagerTriggers = defineCollection({
  name: 'tagManagerTriggers',
  noun: 'tag manager trigger',
  body,
  defaults: { eventName: null, logic: null },
  filters: ['tagManagerId', 'type'],
  references: [references('tagManagerId', 'tagManagers')],
  check: (trigger) => {
    const { type, eventName, logic } = trigger as Static<typeof body>;
    return [
      ...(logic === null ? [] : checkLogic(logic)),
      ...(type === 'CustomEvent' && eventName === null
        ? [{ field: 'eventName', problem: 'is required for a CustomEvent' }]
        : []),
    ];
  },
  describe: ({ type, eventName }) => ({ type: textOf(type), summary: textOf(eventName) }),
});

/** A value that tags and triggers can use. */
export const tagManagerVariables = defineCollection({
  name: 'tagManagerVariables',
  noun: 'tag manager variable',
  body: Type.Object({
    name: nameField,
    tagManagerId: Type.String({ minLength: 1, maxLength: 64 }),
    type: Type.Enum(['Constant', 'DataLayer', 'Cookie', 'UrlParameter', 'Element', 'Script']),
    /** The constant, or the name, path, selector or script that gives the value. */
    value: Type.String({ maxLength: 20_000 }),
    defaultValue: nullable(Type.String({ maxLength: 2_000 })),
  }),
  defaults: { defaultValue: null },
  filters: ['tagManagerId', 'type'],
  references: [references('tagManagerId', 'tagManagers')],
  describe: ({ type }) => ({ type: textOf(type), summary: '' }),
});
