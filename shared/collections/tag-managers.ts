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
import { pageOperators, tagTypes, triggerTypes, variableTypes } from '../web-snippet/tags/tag-words.ts';

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
    /** The source whose pages load the tag manager. */
    sourceId: nullable(Type.String({ minLength: 1, maxLength: 64 })),
  }),
  defaults: { description: null, status: 'Enabled', sourceId: null },
  filters: ['status'],
  references: [references('sourceId', 'sources')],
  describe: ({ status }) => ({ type: '', summary: textOf(status) }),
});

const tagProperty = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 250 }),
    value: Type.String({
      maxLength: 2_000,
      description: 'Text, in which {{Name}} stands for the value of a variable.',
    }),
  },
  { additionalProperties: false },
);

const tagBody = Type.Object({
  name: nameField,
  tagManagerId: Type.String({ minLength: 1, maxLength: 64 }),
  // Earlier builds, which ran no tags, allowed CustomHtml; `checkTag` now refuses it.
  type: Type.Enum([...tagTypes, 'CustomHtml']),
  status: enabledStatus,
  content: Type.String({
    maxLength: 60_000,
    description:
      'CustomScript: a script, which runs as a script element with the nonce of the page. ScriptSource: the https URL of a script. ' +
      'ImagePixel: the https URL of an image; {{Name}} after its host stands for the value of a variable. TrackEvent: the name of an event.',
  }),
  integrity: nullable(
    Type.String({
      maxLength: 500,
      pattern: '^sha(256|384|512)-[A-Za-z0-9+/=]+$',
      description: 'The subresource integrity of a ScriptSource.',
    }),
  ),
  properties: Type.Array(tagProperty, { maxItems: 100, description: 'The properties of a TrackEvent.' }),
  priority: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
  triggerIds: idList(),
  blockingTriggerIds: idList(),
  purposeIds: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Purposes (consentSettings). The tag fires only if the visitor allows all of them.',
  }),
  fires: Type.Enum(['Always', 'OncePerPage'], { description: 'How often the tag runs on a page.' }),
});

/** The tags that a page runs when one of its triggers fires. */
export const tagManagerTags = defineCollection({
  name: 'tagManagerTags',
  noun: 'tag manager tag',
  body: tagBody,
  defaults: {
    status: 'Enabled',
    content: '',
    integrity: null,
    properties: [],
    priority: 0,
    triggerIds: [],
    blockingTriggerIds: [],
    purposeIds: [],
    fires: 'Always',
  },
  filters: ['tagManagerId', 'type', 'status'],
  references: [
    references('tagManagerId', 'tagManagers'),
    references('triggerIds', 'tagManagerTriggers'),
    references('blockingTriggerIds', 'tagManagerTriggers'),
    references('purposeIds', 'consentSettings'),
  ],
  describe: ({ type, status }) => ({ type: textOf(type), summary: textOf(status) }),
});

const triggerBody = Type.Object({
  name: nameField,
  tagManagerId: Type.String({ minLength: 1, maxLength: 64 }),
  type: Type.Enum([...triggerTypes]),
  eventName: nullable(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'For a CustomEvent: the event that the page sends, or pushes to its dataLayer as `event`.',
    }),
  ),
  selector: nullable(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'For a Click or a FormSubmission: the CSS selector of the elements; null: all elements.',
    }),
  ),
  threshold: nullable(
    Type.Integer({ minimum: 1, maximum: 100, description: 'For a ScrollDepth: the scrolled percentage of the page.' }),
  ),
  intervalMs: nullable(
    Type.Integer({ minimum: 250, maximum: 86_400_000, description: 'For a Timer: its interval in ms.' }),
  ),
  limit: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'The maximum number of times that the trigger fires on a page; null: no limit.',
    }),
  ),
  logic: nullable({
    ...logicSchema,
    description:
      'An additional condition. Paths are variables.<name of a variable>, event.event and event.event_properties.<name>; ' +
      `operators are ${pageOperators.join(', ')}.`,
  }),
});

/** Conditions under which tags fire. */
export const tagManagerTriggers = defineCollection({
  name: 'tagManagerTriggers',
  noun: 'tag manager trigger',
  body: triggerBody,
  defaults: { eventName: null, selector: null, threshold: null, intervalMs: null, limit: null, logic: null },
  filters: ['tagManagerId', 'type'],
  references: [references('tagManagerId', 'tagManagers')],
  describe: ({ type, eventName }) => ({ type: textOf(type), summary: textOf(eventName) }),
});

const variableBody = Type.Object({
  name: nameField,
  tagManagerId: Type.String({ minLength: 1, maxLength: 64 }),
  type: Type.Enum([...variableTypes]),
  value: Type.String({
    maxLength: 2_000,
    description:
      'Constant: the text itself. DataLayer: a dotted path. Cookie, UrlParameter: the name of the cookie or parameter. UrlPart: url, host, path, query or fragment. ' +
      'Element: a CSS selector for the text of an element; followed by @ and a name, for that attribute. Script: the dotted path of a global variable, which is read and not ' +
      'evaluated. EventProperty: the path of a property of the event that fired.',
  }),
  defaultValue: nullable(Type.String({ maxLength: 2_000 })),
});

/** A value that tags and triggers can use. */
export const tagManagerVariables = defineCollection({
  name: 'tagManagerVariables',
  noun: 'tag manager variable',
  body: variableBody,
  defaults: { defaultValue: null },
  filters: ['tagManagerId', 'type'],
  references: [references('tagManagerId', 'tagManagers')],
  describe: ({ type }) => ({ type: textOf(type), summary: '' }),
});
