import { optionalText, SettingError } from './settings.ts';
import type { Setting } from './settings.ts';

const entriesMax = 100;

type ListDeclaration = {
  readonly label: string;
  readonly placeholder: string;
  readonly sublabel: string;
  readonly example?: string;
};

/** A list of names separated by commas, such as trait names; empty if the setting is missing. */
export function nameList(declared: ListDeclaration): Setting<readonly string[]> {
  const setting = optionalText(declared, (text, key) => entriesOf(text, key));
  return { ...setting, read: (given, key) => setting.read(given, key) ?? [] };
}

/** A name and its name at the platform. */
export type Pair = readonly [name: string, value: string];

/**
 * Pairs such as `plan = eVar5`, separated by commas; a name may occur in several pairs. Empty if the
 * setting is missing.
 */
export function pairList(declared: ListDeclaration & { readonly value: RegExp }): Setting<readonly Pair[]> {
  const { value, ...described } = declared;
  const setting = optionalText(described, (text, key) =>
    entriesOf(text, key).map((entry): Pair => {
      const [, name, given] = /^(\S.*?)\s*=\s*(\S+)$/.exec(entry) ?? [];
      if (name === undefined || given === undefined || !value.test(given)) {
        throw new SettingError(key, `must be pairs such as ${declared.placeholder}`);
      }
      return [name, given];
    }),
  );
  return { ...setting, read: (given, key) => setting.read(given, key) ?? [] };
}

function entriesOf(text: string, key: string): readonly string[] {
  const entries = text.split(',').flatMap((entry) => entry.trim() || []);
  if (entries.length > entriesMax) throw new SettingError(key, `must have at most ${entriesMax} entries`);
  return entries;
}
