import { Type } from 'typebox';
import type { Static } from 'typebox';
import { logicSchema } from '../routing/predicate/logic-schema.ts';
import { checkLogic } from '../routing/predicate/predicate.ts';
import { defineCollection, nameField, nullable, references, textOf } from '../contracts/config/define-collection.ts';

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
