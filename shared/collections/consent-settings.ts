import { Type } from 'typebox';
import type { Static } from 'typebox';
import { googleConsentTypes, gppOptOuts } from '../contracts/events/consent-words.ts';
import {
  defineCollection,
  descriptionField,
  idList,
  nameField,
  nullable,
  references,
} from '../contracts/config/define-collection.ts';

/** Ids of categories of a consent platform, each once. */
const categoryIds = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 250 }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description,
    }),
  );
const numbers = (maximum: number, description: string) =>
  Type.Array(Type.Integer({ minimum: 1, maximum }), { minItems: 1, maxItems: 100, uniqueItems: true, description });

/** Signals from which consent for the purpose is read, in addition to the event's own consent and the visitor's. */
const signals = Type.Object(
  {
    segment: categoryIds("Segment's categories that the purpose stands for; all of them must be allowed."),
    rudderstack: categoryIds("RudderStack's consent ids that the purpose stands for."),
    oneTrust: categoryIds("OneTrust's groups, such as C0004; all of them must be allowed."),
    cookiebot: categoryIds("Cookiebot's categories: preferences, statistics or marketing."),
    didomi: categoryIds("Didomi's purposes."),
    tcf: Type.Optional(
      Type.Object(
        {
          purposes: numbers(24, 'Purposes of the IAB, all of which need consent.'),
          vendors: Type.Optional(numbers(65_535, 'Vendors of the IAB, all of which need consent.')),
          onlyWhereGdprApplies: Type.Optional(Type.Boolean()),
          segment: Type.Optional(
            Type.Enum(['core', 'publisher'], {
              description: 'The segment of the TC string whose purposes count. Defaults to core.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    gpp: Type.Optional(
      Type.Array(Type.Enum([...gppOptOuts]), {
        minItems: 1,
        uniqueItems: true,
        description: 'Opt-outs of the Global Privacy Platform that deny the purpose.',
      }),
    ),
    googleConsentMode: Type.Optional(
      Type.Array(Type.Enum([...googleConsentTypes]), {
        minItems: 1,
        uniqueItems: true,
        description:
          "Google's consent types that the purpose stands for. Destinations that accept these types receive the purpose's answer, whether they serve the purpose or not: " +
          'ad_user_data and ad_personalization to Google Analytics, Google Ads and server containers, ad_storage to Microsoft. If several purposes have the same type, all of them must be granted.',
      }),
    ),
    gpc: Type.Optional(
      Type.Enum(['off', 'deny', 'always'], {
        description:
          "The effect of the browser's Global Privacy Control. deny: the signal denies the purpose unless the event or the visitor has an answer. always: the signal denies it in every case. Defaults to off.",
      }),
    ),
  },
  { additionalProperties: false },
);

const body = Type.Object({
  /** Name of the purpose, for example analytics or advertising. */
  name: nameField,
  description: descriptionField,
  isEnabled: Type.Boolean(),
  /** The default for a visitor who has not decided. */
  defaultState: Type.Enum(['Granted', 'Denied']),
  /**
   * Regions in which the default applies: ISO 3166 codes (`DE`, `US-CA`), `EU` or `EEA`; null means everywhere. Pages
   * apply the default everywhere.
   */
  regions: nullable(
    Type.Array(Type.String({ pattern: '^(EEA|[A-Z]{2}(-[A-Z0-9]{1,3})?)$' }), { minItems: 1, maxItems: 500 }),
  ),
  /** Destinations that serve this purpose. */
  destinationIds: idList(),
  signals: nullable(signals),
});

type ConsentSettingBody = Static<typeof body>;

export const consentSettings = defineCollection({
  name: 'consentSettings',
  noun: 'consent setting',
  ids: 'slug',
  uniqueNames: true,
  body,
  defaults: {
    description: null,
    isEnabled: true,
    defaultState: 'Denied',
    regions: null,
    destinationIds: [],
    signals: null,
  },
  references: [references('destinationIds', 'destinations')],
  describe: (setting) => {
    const { defaultState, isEnabled } = setting as ConsentSettingBody;
    return { type: defaultState, summary: isEnabled ? 'enabled' : 'disabled' };
  },
});
