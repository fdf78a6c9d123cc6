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

/** An event after a click, as sent in a postback. */
export type ClickConversion = SentEvent & {
  /** The platform's id of the click. */
  readonly click: string;
  readonly commerce: Commerce;
};

/** Query parameters; undefined values are left out. */
export type PostbackQuery = Readonly<Record<string, string | number | undefined>>;

/** A GET request: its address and the parameters to append. */
export type Postback = { readonly url: string; readonly query?: PostbackQuery };

/** The parts of a postback that differ by platform. */
export type ClickPostbackDefinition<Declarations extends SettingDeclarations> = Pick<
  DestinationDefinition<Declarations>,
  'id' | 'label' | 'settings' | 'facts' | 'loadPlatform'
> & {
  /** Names of the click id: the landing page's parameter and the cookie that stores it. */
  readonly clickNames: readonly [string, ...string[]];
  /** Which of the customer's events are sent. Defaults to all. */
  accepts?(given: SettingsOf<Declarations>, event: OutboundEvent): boolean;
  postback(given: SettingsOf<Declarations>, conversion: ClickConversion): Postback;
  readonly exampleProperties?: JsonObject;
};

/**
 * Defines a kind whose platform receives a conversion as a GET with the id of the earlier click:
 * one event per request, classified by status alone. The click id is looked up with `browserId`; an
 * event without a click id is refused as unfit.
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
            throw new UnfitEventError(`the event has no click id (${clickNames[0]})`);
          }
          const conversion = { ...event, click, commerce: commerceOf(event) };
          const { url, query = {} } = definition.postback(given, conversion);
          return getWith({ url, query, events });
        },
      };
    },
  });
}
