import { EncryptionKeyError, readEncryptionKey } from '../routing/modifications/encryption.ts';
import type { JsonObject } from '../runtime/json.ts';
import { withLimitedUse } from './limit-use.ts';
import { withConsentMode } from './pass-consent.ts';
import { createRequestMasker } from './mask-secrets.ts';
import type { SecretMasker } from './mask-secrets.ts';
import type { DestinationKind, OutboundRequest, PreparedDestination } from './sdk/destination.ts';
import { choice, optionalText, SettingError } from './sdk/settings.ts';

/**
 * What a destination keeps in order while events wait for another attempt. `visitor`: later events of a visitor wait
 * behind an earlier one that waits. `none`: they go on, and the one that failed arrives after them.
 */
export type DeliveryOrder = 'visitor' | 'none';

export const orderSetting = choice<DeliveryOrder>({
  label: 'Order',
  options: [
    { label: 'Each visitor in order', value: 'visitor' },
    { label: 'No order when retrying', value: 'none' },
  ],
  sublabel:
    'While an event waits for a retry, later events of its visitor wait too. Without order they are sent at once.',
  fallback: 'visitor',
});

/** Which of the purposes that a destination serves an event's visitor has to allow. */
export const consentRuleSetting = choice<'all' | 'any'>({
  label: 'Consent',
  options: [
    { label: 'Every purpose', value: 'all' },
    { label: 'One purpose is enough', value: 'any' },
  ],
  sublabel:
    'Which of the purposes that this destination serves a visitor must allow. Without purposes it has no effect.',
  fallback: 'all',
});

/** What becomes of events of visitors who opted out by a signal; of kinds whose platform has words for limited use. */
export const onOptOutSetting = choice<'stop' | 'limitedUse'>({
  label: 'Opted out by a signal',
  options: [
    { label: 'Send nothing', value: 'stop' },
    { label: 'Send for limited use', value: 'limitedUse' },
  ],
  sublabel:
    "For visitors who opted out by Global Privacy Control, a GPP or a US Privacy string, and denied nothing otherwise: sends with the platform's words for limited use. A denial in a dialog, by the event, the visitor or a default always stops.",
  fallback: 'stop',
});

/** For the modification Encrypted of the destination's mappings. */
export const encryptionKeySetting = optionalText(
  {
    label: 'Encryption key',
    placeholder: '-----BEGIN PUBLIC KEY-----',
    sublabel:
      'An RSA public key in PEM, of at least 2048 bits. Mappings with the modification Encrypted encrypt values for who has its private key.',
  },
  (text, key) => {
    try {
      readEncryptionKey(text);
      return text;
    } catch (error) {
      if (error instanceof EncryptionKeyError) throw new SettingError(key, error.message);
      throw error;
    }
  },
);

/** A destination made ready, with what the settings that every kind has say. */
export type OfferedDestination = PreparedDestination & {
  readonly order: DeliveryOrder;
  /** Masks the destination's secrets in a request and its answer. Without it neither is recorded. */
  readonly maskerOf?: (request: OutboundRequest) => SecretMasker;
};

/** A kind with the settings that every kind has. */
export type OfferedKind = Omit<DestinationKind, 'prepare'> & { prepare(settings: JsonObject): OfferedDestination };

const commonSettings = [
  orderSetting.describe('order'),
  consentRuleSetting.describe('consentRule'),
  encryptionKeySetting.describe('encryptionKey'),
];
const commonOfLimited = [...commonSettings, onOptOutSetting.describe('onOptOut')];

/** Adds to a kind the settings that every kind has, behind its own. */
export function withCommonSettings(kind: DestinationKind): OfferedKind {
  const { descriptor, exampleSuccess, exampleProperties, facts, loadPlatform, prepareErasure } = kind;
  const hasLimitedUse = facts.limitedUse !== undefined;
  const common = hasLimitedUse ? commonOfLimited : commonSettings;
  return {
    descriptor: { ...descriptor, settings: [...descriptor.settings, ...common] },
    get exampleSettings() {
      return kind.exampleSettings;
    },
    ...(exampleSuccess === undefined ? {} : { exampleSuccess }),
    ...(exampleProperties === undefined ? {} : { exampleProperties }),
    facts,
    loadPlatform,
    addresses: (settings) => kind.addresses(settings),
    warnings: (settings) => kind.warnings(settings),
    ...(prepareErasure === undefined ? {} : { prepareErasure }),
    prepare(settings) {
      // The rules of the account read these; here they are checked.
      consentRuleSetting.read(settings['consentRule'], 'consentRule');
      encryptionKeySetting.read(settings['encryptionKey'], 'encryptionKey');
      const order = orderSetting.read(settings['order'], 'order');
      const isLimited = onOptOutSetting.read(settings['onOptOut'], 'onOptOut') === 'limitedUse';
      if (isLimited && !hasLimitedUse) {
        throw new SettingError('onOptOut', 'must be stop: the platform has no words for limited use');
      }
      const prepared = { ...kind.prepare(settings), order, maskerOf: createRequestMasker(kind, settings) };
      const limited = isLimited ? withLimitedUse(prepared) : prepared;
      return facts.consentTypes === undefined ? limited : withConsentMode(limited);
    },
  };
}
