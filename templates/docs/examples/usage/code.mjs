import { Client } from "emailvalidation";

const { days } = await new Client().usage();

console.log("Days:", days.length);
console.log("Credits:", days.reduce((sum, day) => sum + day.credits, 0));
