import type { Envelope } from '../../contracts/events/envelope.ts';
import { integrationOptions } from '../../contracts/events/integration-options.ts';
import { integrationsKey, senderKey } from '../../contracts/events/resolved-event.ts';
import { mergeMembers } from '../../json/exact-numbers.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { Holder } from './find-places.ts';
import type { PlanPath } from './plan-path.ts';

/** The start of a path: an object of the envelope, and the names to follow from there. */
export type Start = { holderOf(event: JudgedEnvelope): unknown; readonly names: readonly string[] };

/**
 * An envelope while it is checked: a rule finds each property under all names that senders use for it. The envelope
 * must be parsed for this use only, because it is changed in place.
 */
export class JudgedEnvelope {
  /** The envelope's own fields. */
  readonly head: Holder;
  /** The client's content. */
  readonly body: Holder;
  readonly #isIdentify: boolean;

  constructor(envelope: Envelope) {
    this.head = mergeMembers(envelope);
    this.body = mergeMembers(envelope.body);
    this.head['body'] = this.body;
    this.#isIdentify = envelope.kind === 'identify';
    // Merges objects that are stored under two names, as later readers do: for a repeated key the second object wins.
    this.#unite([this.body, 'properties'], [this.body, 'eventProperties']);
    if (isJsonObject(envelope.ctx)) {
      const ctx = mergeMembers(envelope.ctx);
      this.head['ctx'] = ctx;
      this.#unite([ctx, 'defaultProperties'], [this.body, 'defaultProperties']);
    }
    this.#moveOptions();
  }

  /** The envelope with all changes. */
  get envelope(): Envelope {
    return this.head as unknown as Envelope;
  }

  /** Properties of the event; for an identify event these are the visitor's properties. */
  get properties(): unknown {
    return this.body[this.#isIdentify ? 'userProperties' : 'eventProperties'];
  }

  /** Whether a place contains an identifier of a visitor. */
  isIdentifier({ holder, name }: { readonly holder: Holder; readonly name: string }): boolean {
    if (holder === this.body) return name === 'email' || name === 'externalId';
    return holder === this.body['userProperties'] && (name === 'email' || name === 'external_id');
  }

  /** Whether a place contains a visitor's or the event's consent, or is within it. */
  isConsent({ holder, name }: { readonly holder: Holder; readonly name: string }): boolean {
    const user = this.body['userProperties'];
    if (name === 'consent' && (holder === this.body || holder === user)) return true;
    return contains(this.body['consent'], holder) || (isJsonObject(user) && contains(user['consent'], holder));
  }

  get context(): unknown {
    return this.body['defaultProperties'];
  }

  get userProperties(): unknown {
    return this.body['userProperties'];
  }

  /** The fields of the batch that apply to all of its rows. */
  get batch(): Holder {
    const { ctx } = this.head;
    return isJsonObject(ctx) ? ctx : {};
  }

  /**
   * Moves the options for single destinations into the context, as later readers do. `integrations` keeps only whether
   * each destination is allowed: no rule may change that.
   */
  #moveOptions(): void {
    const { integrations, defaultProperties } = this.body;
    const options = integrationOptions(integrations);
    if (options === undefined || !isJsonObject(integrations)) return;
    const allowed = Object.entries(integrations).map(([name, value]) => [name, Object.hasOwn(options, name) || value]);
    this.body['integrations'] = Object.fromEntries(allowed);
    const context = isJsonObject(defaultProperties) ? defaultProperties : undefined;
    this.body['defaultProperties'] = mergeMembers(context, { [integrationsKey]: options });
  }

  #unite([first, firstName]: readonly [Holder, string], [second, secondName]: readonly [Holder, string]): void {
    const [one, other] = [first[firstName], second[secondName]];
    if (!isJsonObject(one)) return;
    second[secondName] = isJsonObject(other) ? mergeMembers(one, other) : one;
    delete first[firstName];
  }
}

function contains(value: unknown, holder: Holder): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value === holder || Object.values(value).some((member) => contains(member, holder));
}

/** The starts of a path: usually one object, several if senders have several names for a property. */
export function startsOf({ root, names }: PlanPath): readonly Start[] {
  switch (root) {
    case 'properties':
      return [{ holderOf: (event) => event.properties, names }];
    case 'context':
      return [{ holderOf: (event) => event.context, names }, ...networkData(names)];
    case 'visitor':
      return [{ holderOf: (event) => event.userProperties, names }, ...besideUserProperties(names)];
  }
}

const ofBody = (names: readonly string[]): Start => ({ holderOf: ({ body }) => body, names });

/** IP address and User-Agent: those of the request, and those that a server reports for the visitor. */
function networkData(names: readonly string[]): readonly Start[] {
  const [first, second] = names;
  const isSender = first === senderKey;
  if (names.length > (isSender ? 2 : 1)) return [];
  const isAbout = (name: string): boolean => (isSender ? second === undefined || second === name : first === name);
  const all = [
    { name: 'ip', inHead: 'ip', inIdentity: 'ip' },
    { name: 'user_agent', inHead: 'ua', inIdentity: 'userAgent' },
  ];
  return all
    .filter(({ name }) => isAbout(name))
    .flatMap(({ inHead, inIdentity }) => [
      { holderOf: ({ head }: JudgedEnvelope) => head, names: [inHead] },
      ...(isSender
        ? []
        : [
            { holderOf: ({ body }: JudgedEnvelope) => body, names: ['identityContext', inIdentity] },
            { holderOf: ({ batch }: JudgedEnvelope) => batch, names: ['identityContext', inIdentity] },
          ]),
    ]);
}

function besideUserProperties(names: readonly string[]): readonly Start[] {
  switch (names[0]) {
    case 'custom_properties':
      return [ofBody(names), { holderOf: ({ batch }) => batch, names }];
    case 'consent':
      return [ofBody(names)];
    case 'email':
      return names.length === 1 ? [ofBody(names)] : [];
    case 'external_id':
      return names.length === 1 ? [ofBody(['externalId'])] : [];
    default:
      return [];
  }
}
