import { EncryptionKeyError, readEncryptionKey } from '../routing/modifications/encryption.ts';
import type { JsonObject } from '../runtime/json.ts';
import type { DestinationKind, PreparedDestination } from './sdk/destination.ts';
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
export type OfferedDestination = PreparedDestination & { readonly order: DeliveryOrder };

/** A kind with the settings that every kind has. */
export type OfferedKind = Omit<DestinationKind, 'prepare'> & { prepare(settings: JsonObject): OfferedDestination };

const commonSettings = [
  orderSetting.describe('order'),
  consentRuleSetting.describe('consentRule'),
  encryptionKeySetting.describe('encryptionKey'),
];

/** Adds to a kind the settings that every kind has, behind its own. */
export function withCommonSettings(kind: DestinationKind): OfferedKind {
  const { descriptor, exampleSuccess, exampleProperties, facts, loadPlatform, prepareErasure } = kind;
  return {
    descriptor: { ...descriptor, settings: [...descriptor.settings, ...commonSettings] },
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
      return { ...kind.prepare(settings), order: orderSetting.read(settings['order'], 'order') };
    },
  };
}
