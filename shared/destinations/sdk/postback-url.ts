import { UnfitEventError } from './destination.ts';
import type { ClickConversion } from './click-postback.ts';
import { address, readWebUrl, requiredText, SettingError } from './settings.ts';
import type { Setting } from './settings.ts';

/** What a postback's address may have placeholders for. */
const valuesOf = {
  click: ({ click }: ClickConversion) => click,
  event: ({ name }: ClickConversion) => name,
  order_id: ({ commerce, deduplicationId }: ClickConversion) => commerce.orderId ?? deduplicationId,
  value: ({ commerce }: ClickConversion) => commerce.value?.toString() ?? '',
  currency: ({ commerce }: ClickConversion) => commerce.currency ?? '',
  time: ({ timeMs }: ClickConversion) => String(Math.floor(timeMs / 1_000)),
} as const satisfies Readonly<Record<string, (conversion: ClickConversion) => string>>;

type Placeholder = keyof typeof valuesOf;

const urlCharactersMax = 8_192;
const placeholder = /\{\{\s*([a-z_]+)\s*\}\}/g;

export type PostbackUrl = (conversion: ClickConversion) => string;

/**
 * The address of a postback as a platform shows it to its customer, with placeholders in place of the platform's macros:
 * `{{click}}`, which must be there, and `{{event}}`, `{{order_id}}`, `{{value}}`, `{{currency}}` and `{{time}}` (seconds
 * since the epoch). They stand in the path or the query, where their values are percent-encoded.
 */
export function postbackUrl(declared: {
  readonly label: string;
  readonly sublabel: string;
  readonly example: string;
}): Setting<PostbackUrl> {
  return address(requiredText({ ...declared, placeholder: declared.example }, compilePostbackUrl));
}

function compilePostbackUrl(text: string, key: string): PostbackUrl {
  const trimmed = text.trim();
  const [start = ''] = /^https?:\/\/[^/?#\s{}]+/i.exec(trimmed) ?? [];
  if (start === '') throw new SettingError(key, 'must begin with http:// or https:// and a host without placeholders');
  const names = [...trimmed.matchAll(placeholder)].map(([, name = '']) => name);
  const unknown = names.find((name) => !isPlaceholder(name));
  if (unknown !== undefined) {
    throw new SettingError(key, `may have the placeholders ${Object.keys(valuesOf).join(', ')}, not ${unknown}`);
  }
  if (!names.includes('click')) throw new SettingError(key, 'must have {{click}} where the id of the click belongs');
  const { origin } = new URL(readWebUrl(trimmed.replaceAll(placeholder, 'x'), key));
  return (conversion) => {
    const url = trimmed.replaceAll(placeholder, (_, name: string) =>
      isPlaceholder(name) ? encodeURIComponent(valuesOf[name](conversion).toWellFormed()) : '',
    );
    if (url.length > urlCharactersMax) throw new UnfitEventError('the event is too large for a URL');
    const made = URL.canParse(url) ? new URL(url) : undefined;
    // Dots in the path are read as steps, however they are written.
    if (made?.origin !== origin) throw new UnfitEventError('the values make no usable URL');
    made.hash = '';
    return made.href;
  };
}

function isPlaceholder(name: string): name is Placeholder {
  return Object.hasOwn(valuesOf, name);
}
