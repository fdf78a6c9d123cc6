/** `Sign up: free-trial` → `signUpFreeTrial` */
export function camelCase(text: string): string {
  return wordsOf(text)
    .map((word, index) => (index === 0 ? word.toLowerCase() : capitalised(word.toLowerCase())))
    .join('');
}

/** `Sign up: free-trial` → `sign-up-free-trial` */
export function kebabCase(text: string): string {
  return lowered(text).join('-');
}

/** `Sign up: free-trial` → `sign_up_free_trial` */
export function snakeCase(text: string): string {
  return lowered(text).join('_');
}

/** `sign up: free-trial` → `Sign Up Free Trial`; a word in capitals stays so. */
export function startCase(text: string): string {
  return wordsOf(text).map(capitalised).join(' ');
}

/**
 * Words as lodash parts them: at anything but letters and digits, between `aB`, before the last of `ABc`, around digits.
 * Apostrophes part nothing.
 */
function wordsOf(text: string): readonly string[] {
  return text.replaceAll(/['\u2019]/g, '').match(words) ?? [];
}

const words = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|[\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{N}+/gu;

function lowered(text: string): readonly string[] {
  return wordsOf(text).map((word) => word.toLowerCase());
}

function capitalised(word: string): string {
  const [first = '', ...rest] = word;
  return first.toUpperCase() + rest.join('');
}
