import { EncryptionKeyError, readEncryptionKey } from '../routing/modifications/encryption.ts';
import type { JsonObject } from '../runtime/json.ts';
import { withLimitedUse } from './limit-use.ts';
import { withConsentMode } from './pass-consent.ts';
import { createRequestMasker } from './mask-secrets.ts';
import type { SecretMasker } from './mask-secrets.ts';
import type { DestinationKind, OutboundRequest, PreparedDestination } from './sdk/destination.ts';
import { choice, optionalText, SettingError } from './sdk/settings.ts';

/**
 * The order in which a destination receives events while some wait for a retry. `visitor`: later events of a visitor
 * wait until the earlier one is delivered. `none`: later events are sent at once, so the retried event arrives after
 * them.
 */
export type DeliveryOrder = 'visitor' | 'none';

export const orderSetting = choice<DeliveryOrder>({
  label: 'Order',
  options: [
    { label: 'Each visitor in order', value: 'visitor' },
    { label: 'No order when retrying', value: 'none' },
  ],
  sublabel:
    'While an event waits for a retry, later events of the same visitor wait too. Without order they are sent at once.',
  fallback: 'visitor',
});

/** Whether a visitor must allow all of a destination's purposes, or only one of them. */
export const consentRuleSetting = choice<'all' | 'any'>({
  label: 'Consent',
  options: [
    { label: 'Every purpose', value: 'all' },
    { label: 'One purpose is enough', value: 'any' },
  ],
  sublabel: "Which of this destination's purposes a visitor must allow. No effect without purposes.",
  fallback: 'all',
});

/**
 * What happens to events of visitors who opted out by a signal. Only for kinds whose platform
 * supports limited data use.
 */
export const onOptOutSetting = choice<'stop' | 'limitedUse'>({
  label: 'Opted out by a signal',
  options: [
    { label: 'Send nothing', value: 'stop' },
    { label: 'Send for limited use', value: 'limitedUse' },
  ],
  sublabel:
    "Applies to visitors who opted out by Global Privacy Control or a GPP or US Privacy string, and denied nothing else. Sending for limited use adds the platform's limited-use fields to each event. A denial in a consent dialog, in the event, on the visitor or by default always stops the event.",
  fallback: 'stop',
});

/** The public key with which the mapping modification Encrypted encrypts. */
export const encryptionKeySetting = optionalText(
  {
    label: 'Encryption key',
    placeholder: '-----BEGIN PUBLIC KEY-----',
    sublabel:
      'An RSA public key in PEM, at least 2048 bits. Mappings with the modification Encrypted use it; only the holder of its private key can decrypt the values.',
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

/** A prepared destination, with the values of the settings that every kind has. */
export type OfferedDestination = PreparedDestination & {
  readonly order: DeliveryOrder;
  /** Masks the destination's secrets in a request and its response. If undefined, neither is recorded. */
  readonly maskerOf?: (request: OutboundRequest) => SecretMasker;
};

/** A kind of destination, with the settings that every kind has. */
export type OfferedKind = Omit<DestinationKind, 'prepare'> & { prepare(settings: JsonObject): OfferedDestination };

const commonSettings = [
  orderSetting.describe('order'),
  consentRuleSetting.describe('consentRule'),
  encryptionKeySetting.describe('encryptionKey'),
];
const commonOfLimited = [...commonSettings, onOptOutSetting.describe('onOptOut')];

/** Appends the settings that every kind has to the kind's own settings. */
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
      // The kind only validates these values; the account's rules use them.
      consentRuleSetting.read(settings['consentRule'], 'consentRule');
      encryptionKeySetting.read(settings['encryptionKey'], 'encryptionKey');
      const order = orderSetting.read(settings['order'], 'order');
      const isLimited = onOptOutSetting.read(settings['onOptOut'], 'onOptOut') === 'limitedUse';
      if (isLimited && !hasLimitedUse) {
        throw new SettingError('onOptOut', 'must be stop: the platform does not support limited use');
      }
      const prepared = { ...kind.prepare(settings), order, maskerOf: createRequestMasker(kind, settings) };
      const limited = isLimited ? withLimitedUse(prepared) : prepared;
      return facts.consentTypes === undefined ? limited : withConsentMode(limited);
    },
  };
}
