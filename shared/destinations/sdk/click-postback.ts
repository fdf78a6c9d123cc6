import type { JsonObject } from '../../runtime/json.ts';
import { browserId } from './browser-context.ts';
import { commerceOf } from './commerce.ts';
import type { Commerce } from './commerce.ts';
import { defineDestination, onlyEvent, UnfitEventError } from './destination.ts';
import type { DestinationDefinition, DestinationKind, OutboundEvent } from './destination.ts';
import { acceptsCustomerEvents, sentEvent } from './event.ts';
import type { ReadingSettings, SentEvent } from './event.ts';
import { getWith } from './http.ts';
import type { SettingDeclarations, SettingsOf } from './settings.ts';
import { defaultCurrency } from './reading-settings.ts';

/** An event after a click, as a postback sends it. */
export type ClickConversion = SentEvent & {
  /** Id that the platform gave the click. */
  readonly click: string;
  readonly commerce: Commerce;
};

/** Parameters of a postback; those without a value are left out. */
export type PostbackQuery = Readonly<Record<string, string | number | undefined>>;

/** A GET: its address, and parameters that are added to it. */
export type Postback = { readonly url: string; readonly query?: PostbackQuery };

/** What one platform's postback has of its own. */
export type ClickPostbackDefinition<Declarations extends SettingDeclarations> = Pick<
  DestinationDefinition<Declarations>,
  'id' | 'label' | 'settings' | 'facts' | 'loadPlatform'
> & {
  /** Names the click's id goes by: of the parameter of the landing page, of the cookie it is kept in. */
  readonly clickNames: readonly [string, ...string[]];
  /** Which of the customer's events are sent; every one where it is not given. */
  accepts?(given: SettingsOf<Declarations>, event: OutboundEvent): boolean;
  postback(given: SettingsOf<Declarations>, conversion: ClickConversion): Postback;
  readonly exampleProperties?: JsonObject;
};

/**
 * Makes a kind of a platform that receives a conversion as a GET which names the click before it: one event a
 * request, the status is all the answer. The click's id is looked for where ids of ad platforms are (`browserId`); an
 * event without one says nothing to such a platform and is refused as unfit.
 */
export function defineClickPostback<Declarations extends SettingDeclarations>(
  definition: ClickPostbackDefinition<Declarations>,
): DestinationKind {
  const { id, label, settings, clickNames, exampleProperties, facts, loadPlatform } = definition;
  return defineDestination({
    id,
    label,
    settings: { ...settings, defaultCurrency: defaultCurrency() },
    facts,
    loadPlatform,
    exampleProperties: { [clickNames[0]]: 'example-click-1', ...exampleProperties },
    prepare(given) {
      const accepts = definition.accepts?.bind(definition, given);
      return {
        batchEventsMax: 1,
        accepts: (event) => acceptsCustomerEvents(event) && accepts?.(event) !== false,
        buildRequest(events) {
          const event = sentEvent(onlyEvent(events), given as ReadingSettings);
          const click = browserId(event, clickNames)?.trim();
          if (click === undefined || click === '') {
            throw new UnfitEventError(`the event has no id of a click (${clickNames[0]})`);
          }
          const conversion = { ...event, click, commerce: commerceOf(event) };
          const { url, query = {} } = definition.postback(given, conversion);
          return getWith({ url, query, events });
        },
      };
    },
  });
}
