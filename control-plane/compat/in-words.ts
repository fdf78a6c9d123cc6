/**
 * Turns a name into words: `first_name` into "First name", `HashedPhone` into "Hashed phone", `FakeIP` into "Fake IP".
 */
export function inWords(name: string): string {
  const words = name.replaceAll('_', ' ').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  const lower = words.replaceAll(/(?<= )[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase());
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}
