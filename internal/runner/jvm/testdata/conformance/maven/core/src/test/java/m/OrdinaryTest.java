package m;

import static org.junit.jupiter.api.Assertions.*;

import java.io.File;
import org.junit.jupiter.api.*;

class OrdinaryTest {
    @Test
    void same() {}

    @Test
    void same(TestInfo info) {
        fail("the other one");
    }

    @Test
    void printsNoNewline() {
        System.out.print("no newline");
    }

    @Test
    void takesItsTime() throws Exception {
        Thread.sleep(300);
    }

    @Test
    void standsInItsModule() {
        assertTrue(new File("src/test/java/m/OrdinaryTest.java").exists());
    }
}
